"""Invalid UTF-8: a line before the handshake, and inside a log message before each answer."""

import mini

LOG_MESSAGE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"caf\xe9"}}\n'

mini.raw(b"\xff\xfe not utf-8\n")
mini.serve([mini.tool("echo")], call=lambda params: (mini.raw(LOG_MESSAGE), mini.text("still alive"))[1])

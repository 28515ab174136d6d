"""Banner, empty line, colours, a bare number and an object that is no JSON-RPC on stdout, and more in each call."""

import mini

for junk in (
    b"My Server version 1.2.3\n",
    b"\n",
    b"\x1b[32m[dotenv] loaded 4 vars\x1b[0m\n",
    b"42\n",
    b"null\n",
    b'{"level":"info","msg":"hello"}\n',
    b"[1,2]\n",
):
    mini.raw(junk)
mini.serve([mini.tool("echo")], call=lambda params: (mini.raw(b"DEBUG calling\n"), mini.text("fine"))[1])

"""Shakes hands, and then never lists its tools."""

import mini

mini.serve(over={"tools/list": lambda _message: None})

"""Answers the handshake and then reads no more of its stdin."""

import time

import mini

mini.serve([mini.tool("any")], over={"tools/call": lambda message: time.sleep(600)})

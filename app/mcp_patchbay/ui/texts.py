"""How messages and values read to a person: translated texts, times, sizes and counts."""

from __future__ import annotations

import html
import time

from PySide6.QtCore import QCoreApplication, QLocale

from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.messages import TEMPLATES, Message

NOT_KNOWN = "–"
CHARACTERS_PER_TOKEN = 4  # a rule of thumb that holds for English and JSON in all current tokenizers


def text_of(message: Message | None) -> str:
    """A message in the user's language; "" for none."""
    if message is None:
        return ""
    template = QCoreApplication.translate("Message", TEMPLATES[message.key])
    return template.format(**{k: text_of(v) if isinstance(v, Message) else v for k, v in message.args.items()})


def error_text(error: BaseException) -> str:
    """What happened and what to do, in one line."""
    if isinstance(error, PatchbayError):
        return "  ".join(part for part in (text_of(error.message), text_of(error.hint)) if part)
    return str(error) or type(error).__name__


def tooltip(text: str) -> str:
    """A tooltip that shows `text` as it is, also when it looks like HTML."""
    return f"<p style='white-space:pre-wrap'>{html.escape(text)}</p>" if text else ""


def menu_text(text: str) -> str:
    """A menu entry or tab that shows `text` as it is; a single `&` would be a shortcut's mark."""
    return text.replace("&", "&&")


def duration(seconds: float) -> str:
    """A time span as people say it, such as "40 s", "6 min", "2 h" or "3 days"."""
    tr = QCoreApplication.translate
    whole = max(0, int(seconds))
    if whole < 60:
        return tr("Duration", "{0} s").format(whole)
    if whole < 3600:
        return tr("Duration", "{0} min").format(whole // 60)
    if whole < 2 * 86400:
        return tr("Duration", "{0} h").format(whole // 3600)
    return tr("Duration", "{0} days").format(whole // 86400)


def long_duration(seconds: float) -> str:
    """A time span with its two largest units, such as "1 h 52 min"."""
    tr = QCoreApplication.translate
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    if hours >= 48 and hours % 24:
        return tr("Duration", "{0} days {1} h").format(hours // 24, hours % 24)
    if 0 < hours < 48 and minutes % 60:
        return tr("Duration", "{0} h {1} min").format(hours, minutes % 60)
    return duration(seconds)


def milliseconds(value: float) -> str:
    """A latency, such as "3 ms" or "1.8 s"."""
    tr = QCoreApplication.translate
    if value < 9.95:
        return tr("Duration", "{0} ms").format(f"{value:.1f}".removesuffix(".0"))
    if value < 1000:
        return tr("Duration", "{0} ms").format(round(value))
    return tr("Duration", "{0} s").format(f"{value / 1000:.1f}")


def clock_time(moment: float) -> str:
    """Unix seconds as local time of day with milliseconds."""
    return time.strftime("%H:%M:%S", time.localtime(moment)) + f".{int(moment % 1 * 1000):03d}"


def size(count: int) -> str:
    """A number of bytes, such as "812 B" or "1.2 kB"."""
    return QLocale().formattedDataSize(count, 1, QLocale.DataSizeFormat.DataSizeSIFormat) if count else "0 B"


def tokens(count: int) -> str:
    """An estimated number of tokens, such as "~214" or "~9.4k"."""
    return f"~{count}" if count < 1000 else f"~{count / 1000:.1f}k"


def token_estimate(text: str) -> int:
    """About how many tokens a text costs in a model's context."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)

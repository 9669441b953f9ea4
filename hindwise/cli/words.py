"""What `hindwise up` says to people, in English and Chinese."""

import locale
import os
from collections.abc import Mapping

_WORDS: Mapping[str, Mapping[str, str]] = {
    "starting": {"en": "Starting Temporal, worker and API in {data} …", "zh": "正在启动 Temporal、worker 和 API，数据目录 {data} …"},
    "port": {"en": "Port {wanted} is in use; the API listens on {port}.", "zh": "端口 {wanted} 已被占用，API 改用 {port}。"},
    "ready": {"en": "Hindwise is ready.", "zh": "Hindwise 已就绪。"},
    "again": {"en": "Everything answers again.", "zh": "全部恢复正常。"},
    "key": {"en": "key", "zh": "密钥"},
    "no_key": {"en": "none (--no-auth, this machine only)", "zh": "无（--no-auth，仅限本机）"},
    "data": {"en": "data", "zh": "数据"},
    "logs": {"en": "logs", "zh": "日志"},
    "try": {"en": "try", "zh": "试一试"},
    "try_line": {
        "en": "{command} remember 'Ana prefers aisle seats' --user ana{data}",
        "zh": "{command} remember '小安喜欢靠过道的座位' --user ana{data}",
    },
    "stop": {"en": "Ctrl-C stops everything.", "zh": "按 Ctrl-C 全部停止。"},
    "stopping": {"en": "Stopping API, worker and Temporal …", "zh": "正在停止 API、worker 和 Temporal …"},
    "stopped": {"en": "Stopped; nothing is left running.", "zh": "已停止，没有留下任何进程。"},
}


def language(asked: str = "") -> str:
    """en or zh: what was asked for, else the locale's."""
    if asked in {"en", "zh"}:
        return asked
    told = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or locale.getlocale()[0] or ""
    return "zh" if told.lower().startswith(("zh", "chinese")) else "en"


def say(key: str, lang: str, **values: object) -> str:
    """One line in `lang`, filled in."""
    return _WORDS[key][lang].format(**values)

"""Keys and tokens of vendors, known by their form alone. Public forms, told in each vendor's documentation."""

import re

_BEFORE = r"(?<![A-Za-z0-9_.-])"
"""A token starts here. Not `\\b`: to Python a Chinese character is a word character too."""
_MIXED = r"(?=[A-Za-z_-]{0,60}\d)"

_FORMS = (
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+",
    r"ya29\.[A-Za-z0-9_-]{16,}+",
    r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,}+",
    r"(?:dckr_pat_|lin_api_|gsk_|nvapi-|tvly-|r8_|pplx-|xai-|figd_|ntn_|sbp_|glsa_|glc_|PMAK-|pscale_tkn_|sntrys_|hvs\.|hvb\.|dp\.pt\.)"
    + _MIXED
    + r"[A-Za-z0-9_-]{16,}+",
    r"pypi-AgE[A-Za-z0-9_-]{16,}+",
    r"shp(?:at|ca|ss)_[A-Fa-f0-9]{24,}+",
    r"xapp-(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9-]{16,}+",
    r"AKID(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{13,40}(?![A-Za-z0-9])",
    r"AKLT(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,60}(?![A-Za-z0-9])",
    r"AGE-SECRET-KEY-1[A-Z0-9]{30,}+",
    r"GOCSPX-[A-Za-z0-9_-]{16,}+",
    r"ATATT3[A-Za-z0-9_=-]{30,}+",
    r"gl(?:ptt|dt|rt|cbt|soat|ft)-[A-Za-z0-9_-]{16,}+",
    r"dapi[0-9a-f]{32}(?![A-Za-z0-9])",
    r"key-[0-9a-f]{32}(?![A-Za-z0-9])",
    r"SK[0-9a-f]{32}(?![A-Za-z0-9])",
    r"xprv[A-Za-z0-9]{80,120}(?![A-Za-z0-9])",
    r"bce-v3/ALTAK-[A-Za-z0-9]{8,40}/[0-9a-f]{32,64}",
    r"1//0[A-Za-z0-9_-]{30,}+",
    r"EAA[A-Za-z0-9]{60,}+",
)
TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("jwt", re.compile(_BEFORE + r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+")),
    ("api-key", re.compile(_BEFORE + r"sk-(?=[A-Za-z_-]{0,120}\d)[A-Za-z0-9_-]{8,}+")),
    ("api-key", re.compile(_BEFORE + r"sk-(?=[A-Za-z]{0,60}[A-Z])[A-Za-z]{24,}+(?![A-Za-z0-9_-])")),  # one in many has no digit
    ("api-key", re.compile(_BEFORE + r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{8,}+")),
    ("api-key", re.compile(_BEFORE + r"(?:gh[pousr]_[A-Za-z0-9]{16,}+|github_pat_[A-Za-z0-9_]{16,}+|glpat-[A-Za-z0-9_-]{16,}+)")),
    ("api-key", re.compile(_BEFORE + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])")),
    ("api-key", re.compile(_BEFORE + r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])")),
    ("api-key", re.compile(_BEFORE + r"AIza[A-Za-z0-9_-]{30,}+")),
    ("api-key", re.compile(_BEFORE + r"xox[abeoprs]-[A-Za-z0-9-]{8,}+")),
    ("api-key", re.compile(_BEFORE + r"(?:hf_|npm_|whsec_|dop_v1_)[A-Za-z0-9]{20,}+")),
    ("api-key", re.compile(_BEFORE + r"hw_(?=[A-Za-z_-]{0,42}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")),  # our own
    ("api-key", re.compile(f"{_BEFORE}(?:{'|'.join(_FORMS)})")),
    ("api-key", re.compile(_BEFORE + r"(?:app|dataset)-[A-Za-z0-9]{24}(?![A-Za-z0-9-])")),
    ("api-key", re.compile(r"(?<![A-Za-z0-9])(?:bot)?\d{8,10}:AA[A-Za-z0-9_-]{30,40}(?![A-Za-z0-9_-])")),  # Telegram
    ("api-key", re.compile(r"hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,120}|/api/webhooks/\d{8,22}/[A-Za-z0-9_-]{40,90}")),
    ("api-key", re.compile(r"/bot/v2/hook/[A-Za-z0-9-]{20,60}|/webhook/send\?key=[A-Za-z0-9-]{20,60}")),
)
"""What the mask says, and the form."""

PLAIN_SIGNS = (
    *("-----begin", "eyj", "akia", "asia", "ltai", "aiza", "xox", "sg.", "ya29.", "sq0", "akid", "aklt", "hvs.", "hvb.", "dp.pt."),
    *("atatt3", "dapi", "xprv", "1//0", "eaa", ":aa", "hooks.slack"),
    *("sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf"),
)
DASHED_SIGNS = (
    *("sk-", "glpat-", "app-", "dataset-", "nvapi-", "tvly-", "pypi-", "xapp-", "pplx-", "xai-", "pmak-", "gocspx-", "key-"),
    *("glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glft-", "altak-"),
)
SCORED_SIGNS = (
    *("k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "npm_", "whsec_", "dop_v1_", "hw_"),
    *(
        "dckr_pat_",
        "lin_api_",
        "gsk_",
        "r8_",
        "shpat_",
        "shpca_",
        "shpss_",
        "figd_",
        "ntn_",
        "sbp_",
        "glsa_",
        "glc_",
        "pscale_tkn_",
        "sntrys_",
    ),
)
"""In small letters, what a text holds at least where one of these begins: without, with a hyphen, with an underscore in the sign."""

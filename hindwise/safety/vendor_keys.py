"""Keys and tokens of vendors, known by their form alone. Public forms, told in each vendor's documentation."""

import re
from typing import NamedTuple

from hindwise.text.lazy_re import lazy_re

_BEFORE = r"(?<![A-Za-z0-9_.-])"
"""A token starts here. Not `\\b`: to Python a Chinese character is a word character too."""
_MIXED = r"(?=[A-Za-z_-]{0,60}\d)"
_LONG = r"[A-Za-z0-9_-]{16,}+"


class Form(NamedTuple):
    """What the mask says, the form, and its signs: in small letters, of which a text holds one at least where the form stands."""

    what: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _key(signs: str, form: str, *, anywhere: bool = False) -> Form:
    return Form("api-key", tuple(signs.split()), lazy_re(form if anywhere else _BEFORE + form))


FORMS: tuple[Form, ...] = (
    Form("jwt", ("eyj",), lazy_re(_BEFORE + r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+")),
    _key("sk-", r"sk-(?=[A-Za-z_-]{0,120}\d)[A-Za-z0-9_-]{8,}+"),
    _key("sk-", r"sk-(?=[A-Za-z]{0,60}[A-Z])[A-Za-z]{24,}+(?![A-Za-z0-9_-])"),  # one in many has no digit
    _key("k_live_ k_test_", r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{8,}+"),
    _key("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{16,}+"),
    _key("github_pat_", r"github_pat_[A-Za-z0-9_]{16,}+"),
    _key("glpat- glptt- gldt- glrt- glcbt- glsoat- glft-", r"gl(?:pat|ptt|dt|rt|cbt|soat|ft)-" + _LONG),
    _key("akia asia", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("ltai", r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])"),
    _key("aiza", r"AIza[A-Za-z0-9_-]{30,}+"),
    _key("xox", r"xox[abeoprs]-[A-Za-z0-9-]{8,}+"),
    _key("hf_ npm_ whsec_ dop_v1_", r"(?:hf_|npm_|whsec_|dop_v1_)[A-Za-z0-9]{20,}+"),
    _key("hw_", r"hw_(?=[A-Za-z_-]{0,42}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),  # our own
    _key("sg.", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    _key("ya29.", r"ya29\." + _LONG),
    _key("sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,}+"),
    _key("dckr_pat_ lin_api_ gsk_ r8_", r"(?:dckr_pat_|lin_api_|gsk_|r8_)" + _MIXED + _LONG),
    _key("figd_ ntn_ sbp_ glsa_ glc_", r"(?:figd_|ntn_|sbp_|glsa_|glc_)" + _MIXED + _LONG),
    _key("pscale_tkn_ sntrys_", r"(?:pscale_tkn_|sntrys_)" + _MIXED + _LONG),
    _key("nvapi- tvly- pplx- xai- pmak-", r"(?:nvapi-|tvly-|pplx-|xai-|PMAK-)" + _MIXED + _LONG),
    _key("hvs. hvb. dp.pt.", r"(?:hvs\.|hvb\.|dp\.pt\.)" + _MIXED + _LONG),
    _key("pypi-", r"pypi-AgE" + _LONG),
    _key("shpat_ shpca_ shpss_", r"shp(?:at|ca|ss)_[A-Fa-f0-9]{24,}+"),
    _key("xapp-", r"xapp-(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9-]{16,}+"),
    _key("akid", r"AKID(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{13,40}(?![A-Za-z0-9])"),
    _key("aklt", r"AKLT(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,60}(?![A-Za-z0-9])"),
    _key("age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{30,}+"),
    _key("gocspx-", r"GOCSPX-" + _LONG),
    _key("atatt3", r"ATATT3[A-Za-z0-9_=-]{30,}+"),
    _key("dapi", r"dapi[0-9a-f]{32}(?![A-Za-z0-9])"),
    _key("key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _key("xprv", r"xprv[A-Za-z0-9]{80,120}(?![A-Za-z0-9])"),
    _key("altak-", r"bce-v3/ALTAK-[A-Za-z0-9]{8,40}/[0-9a-f]{32,64}"),
    _key("1//0", r"1//0[A-Za-z0-9_-]{30,}+"),
    _key("eaa", r"EAA[A-Za-z0-9]{60,}+"),
    _key("app- dataset-", r"(?:app|dataset)-[A-Za-z0-9]{24}(?![A-Za-z0-9-])"),
    _key(":aa", r"(?<![A-Za-z0-9])(?:bot)?\d{8,10}:AA[A-Za-z0-9_-]{30,40}(?![A-Za-z0-9_-])", anywhere=True),  # Telegram
    _key("hooks.slack", r"hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,120}", anywhere=True),
    _key("/api/webhooks/", r"/api/webhooks/\d{8,22}/[A-Za-z0-9_-]{40,90}", anywhere=True),
    _key("/bot/v2/hook/", r"/bot/v2/hook/[A-Za-z0-9-]{20,60}", anywhere=True),
    _key("/webhook/send", r"/webhook/send\?key=[A-Za-z0-9-]{20,60}", anywhere=True),
)

_ALL_SIGNS = tuple(dict.fromkeys(sign for form in FORMS for sign in form.signs))
SCORED_SIGNS = tuple(sign for sign in _ALL_SIGNS if "_" in sign)
DASHED_SIGNS = tuple(sign for sign in _ALL_SIGNS if "-" in sign and "_" not in sign)
SLASHED_SIGNS = tuple(sign for sign in _ALL_SIGNS if "/" in sign and "-" not in sign)
PLAIN_SIGNS = tuple(sign for sign in _ALL_SIGNS if not {"_", "-", "/"}.intersection(sign))
"""The signs of all, sorted by what a text must hold to hold one of them: most texts are done with after a look for `_`, `-` and `/`."""

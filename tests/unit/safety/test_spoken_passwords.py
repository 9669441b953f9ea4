"""Passwords said in plain words go; what is only told of passwords, and what a thing is used for beside them, stays: both languages."""

import pytest

from hindwise.safety.masking import mask


@pytest.mark.parametrize(
    "text",
    [
        "Use argon2 as password hash",
        "use bcrypt as the password hasher",
        "use PBKDF2 as the password-hashing scheme",
        "set Keycloak as the password backend",
        "Use Bitwarden as password manager.",
        "use LDAP2 as password source, and cache it",
        "用KeePass作为密码库",
        "把 1Password 作为密码管理器",
        "用argon2作为密码哈希算法",
        "用argon2作为密码的哈希算法",
        "用 argon2 作为密码 hash",
        "用Keycloak作为密码后端",
        "把LDAP2作为密码来源",
        "用zxcvbn4作为密码策略的依据",
        "将user_pwd设为密码字段",
    ],
)
def test_a_thing_that_serves_passwords_keeps_its_name(text: str) -> None:
    assert mask(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "use zebra77x as the password",
        'Use "zebra77x" as the password.',
        "use zebra77x as password for the demo",
        "try zebra77x as the wifi password, it worked",
        "use zebra77x as the password everywhere",
        "use zebra77x as the password when asked",
        "用zebra77x作为密码",
        "用zebra77x当密码，别忘了",
        "用zebra77x作为密码登录系统",
        "把zebra77x设为密码。",
        "用zebra77x作为登录密码吧",
        "用zebra77x做密码就行",
        "用 zebra77x 作为密码 登录",
    ],
)
def test_what_is_used_as_the_password_itself_is_masked(text: str) -> None:
    masked = mask(text)
    assert masked == (text.replace("zebra77x", "[masked:password]"), ("password",))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my password is correct horse battery", "correct horse battery"),
        ("My password is correct horse battery.", "correct horse battery"),
        ("my password is secret garden", "secret garden"),
        ("my wifi password is stolen bicycle wheel", "stolen bicycle wheel"),
        ("our passphrase is hidden waterfall, tell nobody", "hidden waterfall"),
        ("the password was changed to secret garden", "secret garden"),
        ("密码是秘密花园", "秘密花园"),
        ("口令为蓝色 大象 跳舞", "大象"),
    ],
)
def test_a_password_may_begin_like_what_is_told_of_passwords(text: str, secret: str) -> None:
    masked = mask(text)
    assert masked.found == ("password",)
    assert secret not in masked.text
    assert mask(masked.text) == (masked.text, ())


@pytest.mark.parametrize(
    "text",
    [
        "my password is correct now",
        "my password is wrong again",
        "the password is expired since Monday",
        "my password is wrong, try again",
        "the password is correct Ann",
        "the password is correct sir",
        "the password is correct username wrong",
        "the password is required username optional",
        "the password is plain text",
        "the password is long enough",
        "the password is case sensitive",
        "the password is different each time",
        "the password was reset last week",
        "the password is stored base64 encoded",
        "our password is kept inside Vault",
        "password is hidden behind the form",
        "Rotating the password is good security hygiene",
        "changing the admin password is simple housekeeping",
        "password: string path",
        "我的密码是正确的",
        "密码是错误的，请重试",
        "密码是旧的那个",
        "密码是秘密，不能说",
    ],
)
def test_what_is_told_of_a_password_stays(text: str) -> None:
    assert mask(text) == (text, ())

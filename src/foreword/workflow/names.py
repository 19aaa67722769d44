"""Which names promise a secret: `db_password`, `apiKey`, `X-Auth-Token`, but not `token_count` or `primary_key`.

A name is split into words first, so that `secretary` and `monkey` are what they are. The last word of a name says
what it holds: a `password_selector` is a selector. What a value looks like is the business of `secrets`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_BEFORE_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 120

SECRET_WORDS = frozenset(
    """
    password passwords passwd passphrase passphrases passcode passcodes pwd secret secrets token bearer jwt
    authorization auth cookie cookies otp otps totp pin cvv cvc ssn mnemonic
    apikey apikeys passwort kennwort contraseña senha пароль 密码 密碼 パスワード 비밀번호
    """.split()
)
SECRET_ENDINGS = ("password", "passwd", "passphrase")
# A text under one of these, or under `pass` alone, is hidden; a mapping is looked into, since its own keys tell
# (`creds.email`), and a number is a count (`pass: 12, fail: 3`).
GUARDED_WORDS = frozenset("credential credentials cred creds".split())

_KEY_OF = """
    api access private secret encryption decryption signing master ssh gpg pgp deploy account subscription app
    application auth service role admin shared storage license hmac session openai anthropic aws azure gcp github
    gitlab stripe slack sendgrid twilio airtable supabase mailgun
    """.split()
_TOKENS_OF = "access refresh auth api bearer session id csrf xsrf oauth".split()
_PASS_OF = "user db database smtp mail email ftp ssh admin root mysql postgres pg redis mongo proxy login".split()
SECRET_COMPOUNDS = frozenset(
    [f"{owner}key" for owner in _KEY_OF]
    + [f"{owner}keys" for owner in _KEY_OF]
    + [f"{owner}token" for owner in _TOKENS_OF]
    + [f"{owner}tokens" for owner in _TOKENS_OF]
    + [f"{owner}pass" for owner in _PASS_OF]
    + """
    clientsecret clientsecrets appsecret sessionid sessionids phpsessid jsessionid seedphrase recoveryphrase
    recoverycode recoverycodes backupcode backupcodes verificationcode securitycode mfacode onetimecode creditcard
    cardnumber socialsecurity connectionstring motdepasse
    """.split()
)
ABOUT_WORDS = frozenset(
    """
    count counts length len limit limits budget usage used size max min type types kind method mode scheme strategy
    provider flow name names username user email domain host url uri link href endpoint page path file filename dir
    folder selector selectors xpath locator css button label placeholder title banner consent policy policies rule
    rules required enabled disabled expires expiry expiration expired ttl age at date time status state strength
    attempts retries version format algorithm index position per
    """.split()
)


def is_secret_name(key: str) -> bool:
    """Whether the name promises a secret, by its whole words in snake_case, camelCase, kebab-case or dotted."""
    words = _words(key[-_LONGEST:])
    return any(word in SECRET_WORDS or word.endswith(SECRET_ENDINGS) for word in words) or any(
        "".join(words[start:end]) in SECRET_COMPOUNDS
        for start in range(len(words))
        for end in range(start + 1, min(start + 3, len(words)) + 1)
    )


def is_guarded_name(key: str) -> bool:
    """Whether a bare text under this name is a secret, though a mapping need not be: `gmail_creds`, `pass`."""
    words = _words(key[-_LONGEST:])
    return words == ("pass",) or any(word in GUARDED_WORDS for word in words)


@lru_cache(maxsize=4096)
def _words(key: str) -> tuple[str, ...]:
    """The words of a name; none if the last one says that it is only about a secret."""
    plain = _BEFORE_CAPITAL.sub(" ", unicodedata.normalize("NFKC", key))
    words = tuple(word.lower() for word in _WORD.findall(plain))
    return () if words and words[-1] in ABOUT_WORDS else words

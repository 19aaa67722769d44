"""Which names promise a secret: `db_password`, `apiKey`, `X-Auth-Token`, but not `token_count` or
`primary_key`.

A name is split into words first, so that `secretary` and `monkey` are what they are. The last word
of a name says what it holds: a `password_selector` is a selector, and a `next_page_token` is a
place in a list. What a value looks like is the business of `patterns` and `placeholders`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from foreword.pattern import lazy_pattern
from foreword.secrets.text_search import remember_short

_BEFORE_CAPITAL = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = lazy_pattern(r"[^\W\d_]+")
_FILE = lazy_pattern(
    r"[\w.-]+\.(?:c|cc|cpp|cs|css|go|h|hpp|html?|java|jsx?|json|kt"
    r"|lua|md|mjs|php|pyi?|rb|rs|scala|sh|sql|swift|toml|"
    r"tsx?|txt|vue|ya?ml)",
    re.IGNORECASE,
)
_LONGEST = 120  # characters of a name that are read, the last ones: these say what it holds
_MOST_LABEL_WORDS = 6  # in a label: with more it is a sentence that mentions a password

SECRET_WORDS = frozenset(
    """
    password passwords passwd passphrase passphrases passcode passcodes pwd pw secret secrets token
    bearer authorization cookie cookies otp otps totp mfa cvv cvc ssn iban ibans puk mnemonic sessid
    apikey apikeys passwort kennwort contraseña contrasena senha wachtwoord lösenord losenord
    passord adgangskode hasło haslo heslo salasana jelszó şifre пароль 密码 密碼 パスワード 비밀번호
    """.split()
)
SECRET_ENDINGS = ("password", "passwd", "passphrase")
# These say something only as the last word: `auth` is a secret, `auth_v2` and `jwt_validation` are
# code.
SECRET_LAST_WORDS = frozenset("auth jwt".split())
# A text under one of these, or under a `pass`, is hidden; a mapping is looked into, since its own
# keys tell (`creds.email`), and a short number is a count (`pass: 12, fail: 3`).
GUARDED_COMPOUNDS = frozenset("credential credentials cred creds creditcard".split())
_NO_PASSWORD_BEFORE_PASS = frozenset(
    """
    first second third fourth final last next previous single multi one two each every per forward
    backward backwards test tests all must boarding season by over under
    """.split()
)

_KEY_OF = """
    api access private secret encryption decryption signing master ssh gpg pgp deploy account
    subscription app application auth service role admin shared storage license hmac session openai
    anthropic aws azure gcp github gitlab stripe slack sendgrid twilio airtable supabase mailgun jwt
    adafruit algolia alibaba asana atlassian beamer bitbucket cloudflare codecov cohere coinbase
    confluent contentful databricks datadog digitalocean discord doppler dropbox dynatrace etsy
    fastly figma finnhub freshbooks grafana groq heroku honeycomb hubspot intercom jfrog kucoin
    launchdarkly mailchimp mapbox mattermost mistral netlify newrelic ngrok notion nytimes okta
    opsgenie pagerduty perplexity plaid planetscale postman posthog pulumi rapidapi rollbar sendbird
    sentry shopify snyk splunk squarespace sumologic tailscale telegram travis trello twitch twitter
    typeform vercel webhook yandex zendesk
    """.split()
_TOKENS_OF = "access refresh auth api bearer session id csrf xsrf oauth".split()
SESSION_COMPOUNDS = frozenset("sessionid sessionids".split())
_OTHER_COMPOUNDS = """
    clientsecret clientsecrets appsecret phpsessid jsessionid seedphrase recoveryphrase recoverycode
    recoverycodes backupcode backupcodes verificationcode securitycode mfacode facode onetimecode
    pincode userpin cardpin simpin pinnumber authcode authorizationcode accesscode logincode smscode
    unlockcode devicecode codeverifier securityanswer securityanswers secretanswer secretanswers
    recoveryanswer recoveryanswers maidenname cardnumber cardnumbers socialsecurity passportnumber
    connectionstring motdepasse
    """.split()


def _secret_compounds() -> frozenset[str]:
    compounds = SESSION_COMPOUNDS.union(_OTHER_COMPOUNDS)
    for owner in _KEY_OF:
        compounds |= {f"{owner}key", f"{owner}keys"}
    for owner in _TOKENS_OF:
        compounds |= {f"{owner}token", f"{owner}tokens"}
    return compounds


SECRET_COMPOUNDS = _secret_compounds()
# Places in a list, and the marks of a tokenizer.
OPEN_TOKENS_OF = frozenset(
    """
    page next continuation continue pagination paging resume sync cursor delta start end bos eos pad
    unk sep cls mask stop special per
    """.split()
)
# What a form calls the place where a secret is typed in: `Password field`.
FORM_WORDS = frozenset("field input box textbox textfield entry element selector".split())
# A field that names the value in another: `{"Name": "DB_PASSWORD", "Value": ...}`, `{"type":
# "password", ...}`.
LABEL_FIELDS = frozenset(
    "name key field header label selector variable variablename element id placeholder locator"
    " target".split()
)
LABELLED_FIELDS = frozenset("value values text default".split())
# What lets somebody in when it stands in an address (`?code=...`), though elsewhere it is a word
# like any other.
_ADDRESS_PARAMETERS = frozenset(
    """
    oobcode sig signature hmac assertion clientassertion samlresponse xamzsignature xgoogsignature
    """.split()
)
# Only where the value looks like chance, or where the address is that of a login:
# `/item?code=SKU-123` is open.
_ADDRESS_CODES = frozenset("code ticket".split())
_ADDRESS_KEYS = frozenset("key sid".split())  # only where the value looks like chance
# to look at the last letter is quicker than to split a name into words
_PIN_ENDS = frozenset("nN0123456789_")
_QUESTIONS = frozenset("securityquestion secretquestion recoveryquestion".split())
ABOUT_WORDS = FORM_WORDS.union(
    """
    count counts length len width limit limits budget usage used size max min type types kind method
    mode scheme strategy provider flow name names username user email domain host url uri link href
    endpoint page path file filename dir folder selectors xpath locator css button label placeholder
    title banner consent policy policies rule rules required enabled disabled expires expiry
    expiration expired ttl age at date time status state strength attempts retries version format
    algorithm index position per err error errors message hint help prompt env var pattern regex
    validation validator redaction enforcement handler manager store helper form view screen test
    tests changed updated valid invalid present exists missing rotation reset
    """.split()
)


def is_secret_name(key: str) -> bool:
    """Whether the name promises a secret, by its whole words in snake_case, camelCase,
    kebab-case or dotted."""
    return _promise_a_secret(_words(key[-_LONGEST:]))


def name_by_label(field: str, label: str) -> str:
    """The name that a field gives to the value beside it: a `password`, a `pin`, or none.

    `name: DB_PASSWORD`, `element: Password field`, `selector: #pin`.
    """
    folded = _fold(field)
    if folded == "type":
        return "password" if label.strip().lower() == "password" else ""
    if folded not in LABEL_FIELDS:
        return ""
    words = _split(label[-_LONGEST:])
    while words and words[-1] in FORM_WORDS:
        words = words[:-1]
    if len(words) > _MOST_LABEL_WORDS:
        return ""
    if _promise_a_secret(_telling_words(words)):
        return "password"
    return "pin" if words[-1:] == ("pin",) else ""


def is_label_field(field: str) -> bool:
    """Whether the field may name the value in another: `name`, `selector`, `type`."""
    folded = _fold(field)
    return folded == "type" or folded in LABEL_FIELDS


def is_labelled_field(field: str) -> bool:
    """Whether the field holds what another one names: `value`, `Value`, `text`."""
    return _fold(field) in LABELLED_FIELDS


def is_guarded_name(key: str) -> bool:
    """Whether a bare text under this name is a secret, though a mapping need not be:
    `gmail_creds`, `db_pass`."""
    words = _words(key[-_LONGEST:])
    if not GUARDED_COMPOUNDS.isdisjoint(_runs(words)):
        return True
    return words[-1:] == ("pass",) and _NO_PASSWORD_BEFORE_PASS.isdisjoint(words)


def is_pin_name(key: str) -> bool:
    """Whether the name is that of a PIN if the value looks like one: `pin`, `door_pin`; `led_pin
    = 13` is a wire."""
    return key[-1:] in _PIN_ENDS and _words(key[-_LONGEST:])[-1:] == ("pin",)


def asks_for_a_secret(field: str) -> bool:
    """Whether the field holds a question whose answer is a secret: `security_question`."""
    return _fold(field).rstrip("s0123456789") in _QUESTIONS


def is_address_parameter(key: str) -> bool:
    """Whether a parameter of an address of this name lets somebody in: `sig`, `X-Amz-Signature`."""
    return _fold(key) in _ADDRESS_PARAMETERS


def is_address_code(key: str) -> bool:
    """Whether a parameter of an address of this name lets somebody in if the address is that of
    a login: `code`."""
    return _fold(key) in _ADDRESS_CODES


def is_address_key(key: str) -> bool:
    """Whether a parameter of an address of this name lets somebody in if its value looks like
    chance: `key`."""
    return _fold(key) in _ADDRESS_KEYS


def is_session_name(key: str) -> bool:
    """Whether the name is that of a session, which may be a login or a conversation that anyone
    may know of."""
    return not SESSION_COMPOUNDS.isdisjoint(_runs(_words(key[-_LONGEST:])))


def is_file_name(key: str) -> bool:
    """Whether what stands before a colon is a file, as in `secret.py:12: error`."""
    return _FILE.fullmatch(key) is not None


@remember_short
def _fold(field: str) -> str:
    return field.lower().replace("_", "").replace("-", "")


@lru_cache(maxsize=4096)
def _promise_a_secret(words: tuple[str, ...]) -> bool:
    if not SECRET_COMPOUNDS.isdisjoint(_runs(words)):
        return True
    if not words or words[-1] == "tokens":
        return False
    if words[-1] in SECRET_LAST_WORDS:
        return True
    return any(word in SECRET_WORDS or word.endswith(SECRET_ENDINGS) for word in words)


@lru_cache(maxsize=4096)
def _runs(words: tuple[str, ...]) -> frozenset[str]:
    """One to three words in a row, written as one: `apikey` from `my_api_key`."""
    runs: set[str] = set()
    for start in range(len(words)):
        for length in (1, 2, 3):
            runs.add("".join(words[start : start + length]))
    return frozenset(runs)


@lru_cache(maxsize=4096)
def _words(key: str) -> tuple[str, ...]:
    return _telling_words(_split(key))


def _telling_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name; none if the last ones say that it is only about a secret."""
    if not words:
        return ()
    last_two = words[-2:]
    if words[-1] in ABOUT_WORDS and last_two != ("maiden", "name"):
        return ()
    if len(words) > 1 and words[-1] == "token" and words[-2] in OPEN_TOKENS_OF:
        return ()
    return () if last_two in (("token", "id"), ("token", "ids")) else words


@lru_cache(maxsize=4096)
def _split(key: str) -> tuple[str, ...]:
    plain = _BEFORE_CAPITAL.sub(" ", unicodedata.normalize("NFKC", key))
    return tuple([word.lower() for word in _WORD.findall(plain)])

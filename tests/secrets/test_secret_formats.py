"""The keys and tokens of every issuer are hidden wherever they stand, and nothing is that only
looks random.

No string here is anybody's key: each is made from its format when the tests run.
"""

from __future__ import annotations

import json
import random
import re
import string
from itertools import product
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.secrets.masking import HIDDEN, hide, mask
from foreword.secrets.token_formats import formats
from tests.attacks import AT_LENGTH, EXAMPLES, sample
from tests.work_done import comes_to_an_end

pytestmark = pytest.mark.attack

ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "letter": string.ascii_letters,
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "base64": string.ascii_letters + string.digits + "+/",
}
# As issuers make them: their own beginnings, lengths and alphabets, as scanners of repositories
# know them.
KEYS = r"""
1Password secret key: A3-{upper:6}-{upper:11}-{upper:5}-{upper:5}-{upper:5}
1Password service account: ops_eyJ{base64:300}
Adafruit: aio_{alnum:28}
Adobe: p8e-{lower:32}
age: AGE-SECRET-KEY-1{upper:58}
Airtable: pat{alnum:14}.{hex:64}
Akamai: akab-{lower:16}-{lower:16}
Alibaba: LTAI{alnum:20}
Anthropic: sk-ant-api03-{word:93}AA
Anthropic admin: sk-ant-admin01-{word:93}AA
Apify: apify_api_{alnum:36}
Artifactory: AKCp8{alnum:68}
Artifactory reference: cmVmd{alnum:59}
Asana: 1/{digit:16}:{hex:32}
Atlassian: ATATT3{alnum:186}
Atlassian connect: ATCTT3{alnum:186}
AWS: AKIA{upper:16}
AWS session: ASIA{upper:16}
AWS session token: IQoJb3JpZ2lu{base64:300}
Azure AD: {alnum:3}8Q~{alnum:34}
Azure SAS: sv=2022-11-02&ss=b&srt=sco&sp=rl&se=2027-01-01T00:00:00Z&sig={alnum:43}%3D
Azure SAS, raw: sig={alnum:43}=&se=1700000000&skn=root
Bitbucket: ATBB{alnum:32}
Buildkite: bkua_{hex:40}
Cal.com: cal_live_{hex:32}
CircleCI: CCIPAT_{alnum:22}_{hex:40}
ClickHouse: 4b1d{alnum:38}
ClickUp: pk_{digit:8}_{upper:32}
Clojars: CLOJARS_{hex:60}
Cloudflare: cfut_{alnum:48}
Cloudflare account: cfat_{alnum:48}
Cloudflare global: cfk_{alnum:48}
Cloudflare origin CA: v1.0-{hex:24}-{hex:146}
Cloudflare service: v1.0-{hex:64}-{hex:128}-{hex:64}
Contentful: CFPAT-{word:43}
crates.io: cio{alnum:32}
Databricks: dapi{hex:32}
Databricks, numbered: dapi{hex:32}-2
Databricks OAuth: dose{hex:32}
Defined Networking: dnkey-{lower:26}-{lower:52}
DigitalOcean: dop_v1_{hex:64}
DigitalOcean OAuth: doo_v1_{hex:64}
DigitalOcean refresh: dor_v1_{hex:64}
Discord: MTA{alnum:21}.G{alnum:5}.{word:38}
Docker: dckr_pat_{word:27}
Doppler: dp.pt.{alnum:43}
Doppler service: dp.st.dev.{alnum:43}
Doppler CLI: dp.ct.{alnum:43}
Dropbox: sl.{word:135}
Duffel: duffel_live_{word:43}
Dynatrace: dt0c01.{upper:24}.{upper:64}
EasyPost: EZAK{alnum:54}
ElevenLabs: sk_{hex:48}
Facebook: EAAC{alnum:120}
Facebook app: {digit:15}|{word:27}
Figma: figd_{word:40}
Firecrawl: fc-{hex:32}
Flutterwave: FLWSECK_TEST-{hex:32}-X
Fly: fo1_{word:43}
Fly macaroon: fm2_{base64:120}
Fly machine: fm1r_{base64:120}
Frame.io: fio-u-{word:64}
GitHub: ghp_{alnum:36}
GitHub OAuth: gho_{alnum:36}
GitHub user: ghu_{alnum:36}
GitHub server: ghs_{alnum:36}
GitHub refresh: ghr_{alnum:36}
GitHub fine-grained: github_pat_{alnum:22}_{alnum:59}
GitLab: glpat-{word:20}
GitLab, routable: glpat-{word:27}.01.{lower:9}
GitLab deploy: gldt-{word:20}
GitLab runner: glrt-{word:20}
GitLab registration: GR1348941{word:20}
GitLab trigger: glptt-{hex:40}
GitLab feed: glft-{word:20}
GitLab job: glcbt-64_{word:20}
GitLab agent: glagent-{word:50}
GitLab OAuth: gloas-{hex:64}
GitLab mail: glimt-{word:25}
GitLab SCIM: glsoat-{word:20}
GitLab flags: glffct-{word:20}
Google: AIzaSy{word:33}
Google OAuth: ya29.{word:60}
Google client: GOCSPX-{word:28}
Google refresh: 1//0{word:60}
Firebase: AAAA{word:7}:{word:140}
Grafana: glsa_{alnum:32}_{hex:8}
Grafana cloud: glc_{base64:60}
Grafana, older: eyJrIjoi{alnum:80}
Groq: gsk_{alnum:52}
Harness: pat.{alnum:22}.{alnum:24}.{alnum:20}
Heroku: HRKU-AA{word:58}
HubSpot: pat-na1-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}
Hugging Face: hf_{letter:34}
Hugging Face organisation: api_org_{letter:34}
Infracost: ico-{alnum:32}
Intercom: dG9rOj{alnum:54}=
Intra42: s-s4t2ud-{hex:64}
JWT: eyJhbGciOiJIUzI1NiJ9.eyJ{alnum:40}.{word:43}
JWT in base64: ZXlKaGJHY2lPaU{alnum:120}
LangSmith: lsv2_pt_{hex:32}_{hex:10}
Linear: lin_api_{alnum:40}
Lob: live_{hex:35}
Mailchimp: {hex:32}-us14
MailerSend: mlsn.{hex:64}
Mailgun: key-{hex:32}
Mailgun, newer: {hex:32}-{hex:8}-{hex:8}
Mapbox: sk.eyJ{alnum:60}.{word:22}
Matrix: syt_{alnum:12}_{letter:20}_{alnum:6}
MaxMind: {alnum:6}_{alnum:29}_mmk
Neon: napi_{lower:64}
Netlify: nfp_{alnum:40}
Netlify CLI: nfc_{alnum:40}
New Relic: NRAK-{upper:27}
New Relic insert: NRII-{word:32}
New Relic browser: NRJS-{hex:19}
New Relic licence: {hex:36}NRAL
Notion: ntn_{digit:11}{alnum:35}
Notion, older: secret_{alnum:43}
npm: npm_{alnum:36}
NuGet: oy2{lower:43}
NVIDIA: nvapi-{word:64}
Octopus: API-{upper:26}
OpenAI: sk-proj-{word:74}T3BlbkFJ{word:74}
OpenAI, older: sk-{alnum:20}T3BlbkFJ{alnum:20}
OpenAI service: sk-svcacct-{word:74}T3BlbkFJ{word:74}
OpenRouter: sk-or-v1-{hex:64}
OpenShift: sha256~{word:43}
Perplexity: pplx-{alnum:48}
Pinecone: pcsk_{alnum:6}_{alnum:60}
Plaid: access-production-{hex:8}-{hex:4}-{hex:4}-{hex:4}-{hex:12}
PlanetScale: pscale_tkn_{word:43}
PlanetScale OAuth: pscale_oauth_{word:43}
PlanetScale password: pscale_pw_{word:43}
PostHog: phx_{alnum:43}
Postman: PMAK-{hex:24}-{hex:34}
Prefect: pnu_{alnum:36}
Pulumi: pul-{hex:40}
PyPI: pypi-AgEIcHlwaS5vcmc{word:120}
ReadMe: rdme_{lower:70}
Render: rnd_{alnum:32}
Replicate: r8_{alnum:37}
Resend: re_{alnum:8}_{alnum:24}
RubyGems: rubygems_{hex:48}
Scalingo: tk-us-{word:48}
SendGrid: SG.{word:22}.{word:43}
Sendinblue: xkeysib-{hex:64}-{alnum:16}
Sentry user: sntryu_{hex:64}
Sentry organisation: sntrys_eyJpYXQiO{alnum:120}_{alnum:43}
SettleMint: sm_pat_{alnum:16}
Shippo: shippo_live_{hex:40}
Shopify: shpat_{hex:32}
Shopify shared: shpss_{hex:32}
Slack bot: xoxb-{digit:12}-{digit:12}-{alnum:24}
Slack user: xoxp-{digit:12}-{digit:12}-{digit:12}-{hex:32}
Slack app: xapp-1-A{upper:10}-{digit:13}-{hex:64}
Slack configuration: xoxe.xoxp-1-{upper:163}
Slack refresh: xoxe-1-{upper:146}
SonarQube: squ_{hex:40}
Sourcegraph: sgp_{hex:16}_{hex:40}
Square: EAAAl{word:59}
Square OAuth: sq0csp-{word:43}
Square, older: sq0atp-{word:22}
Stripe: sk_live_{alnum:24}
Stripe restricted: rk_live_{alnum:24}
Stripe webhook: whsec_{alnum:32}
Supabase: sbp_{hex:40}
Supabase secret: sb_secret_{word:31}
Tailscale: tskey-auth-k4{alnum:10}CNTRL-{alnum:32}
Tailscale API: tskey-api-k4{alnum:10}CNTRL-{alnum:32}
Telegram: {digit:10}:AA{word:33}
Tencent: AKID{alnum:32}
Terraform: {alnum:14}.atlasv1.{word:67}
Twilio: SK{hex:32}
Twitter: AAAAAAAAAAAAAAAAAAAAAA{alnum:40}%2B{alnum:40}%3D{alnum:10}
Typeform: tfp_{word:59}
Vault: hvs.{word:95}
Vault batch: hvb.{word:140}
Vercel: vcp_{alnum:56}
xAI: xai-{alnum:80}
Yandex: AQVN{word:36}
"""
ROWS = [tuple(line.split(": ", 1)) for line in KEYS.strip().splitlines()]


def sample_key(shape: str, seed: str = "") -> str:
    """A string of this format that nobody ever issued; between letters and digits, so that both
    are always there."""
    chance = random.Random(shape + seed)

    def characters(found: re.Match[str]) -> str:
        alphabet, length = ALPHABETS[found[1]], int(found[2])
        drawn = "".join(chance.choice(alphabet) for _ in range(length))
        ends = [one for one in alphabet if one.isalnum()]  # at its ends, a key has no sign
        return chance.choice(ends) + drawn[1:-1] + (chance.choice(ends) if length > 1 else "")

    return re.sub(r"\{(\w+):(\d+)\}", characters, shape)


@pytest.mark.parametrize(("issuer", "shape"), ROWS, ids=[issuer for issuer, _ in ROWS])
def test_the_keys_of_an_issuer_are_hidden_wherever_they_stand(issuer: str, shape: str) -> None:
    for seed in "abcdefgh" if AT_LENGTH else "ab":
        key = sample_key(shape, seed)
        # of a SAS, the signature: all else says what it is for
        secret = max(re.split(r"[=&:.]", key), key=len)
        for text in (
            f"use {key}, then go on",
            f"({key})",
            f"first\n{key}\nlast",
            f"`{key}`",
            f"<code>{key}</code>",
            f"value={key}",
            f"\x1b[32m{key}\x1b[0m",
            json.dumps({"output": f"it says:\n{key}\n"}),
            json.dumps(json.dumps({"output": f'it says:\t{key}"'})),
            f"https://host/x?redirect={quote(key, safe='')}&a=b",
        ):
            masked = mask(text)
            assert secret not in masked, (issuer, text, masked)
            assert HIDDEN in masked
            assert mask(masked) == masked


@pytest.mark.parametrize("shape", ["{alnum:42}+ACR{alnum:6}", "{base64:76}+ASt{alnum:6}=="])
def test_the_keys_of_azure_are_told_by_the_signature_inside_them(shape: str) -> None:
    assert mask(f"use {sample_key(shape)}, then go on") == f"use {HIDDEN}, then go on"


def test_what_stands_around_a_key_is_left_as_it_is() -> None:
    key = sample_key("ghp_{alnum:36}")
    assert mask(f'a "{key}", b') == f'a "{HIDDEN}", b'
    assert mask(f"https://{key}@host/x.git") == f"https://{HIDDEN}@host/x.git"
    assert (
        mask(f"https://{key}:x-oauth-basic@host/x.git") == f"https://{HIDDEN}:{HIDDEN}@host/x.git"
    )
    assert hide({"a": [key, f"x {key}"]}) == {"a": [HIDDEN, f"x {HIDDEN}"]}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("machine h.io login bob password hunter2", "machine h.io login bob password [hidden]"),
        ("Authorization: SSWS 00aBcDeF", "Authorization: SSWS [hidden]"),
        ("Authorization: ApiKey abc/def", "Authorization: ApiKey [hidden]"),
        (
            '{"kty":"RSA","n":"AQAB","d":"X4cTteJY_gn4FYPsXB8"}',
            '{"kty":"RSA","n":"AQAB","d":"[hidden]"}',
        ),
        (
            "Private-Lines: 2\n" + "A" * 64 + "\nAA==\nPrivate-MAC: x",
            "Private-Lines: 2\n[hidden]\nPrivate-MAC: x",
        ),
        (
            (
                "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nab\n---- END SSH2 ENCRYPTED PRIVATE"
                " KEY ----"
            ),
            "[hidden]",
        ),
        (
            "https://x.webhook.office.com/webhookb2/a@b/c/d",
            "https://x.webhook.office.com/webhookb2/[hidden]",
        ),
        (
            "AccountName=a;AccountKey=ab/de+gh==;Suffix=x",
            "AccountName=a;AccountKey=[hidden];Suffix=x",
        ),
        ("HEROKU_KEY=01234567-89ab-cdef-0123-456789abcdef", "HEROKU_KEY=[hidden]"),
    ],
)
def test_secrets_of_other_forms_are_hidden(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


# What lets somebody in when it stands in an address; X stands for the secret.
ADDRESSES = [
    "https://app.example.com/callback?code=X&state=st4te",
    "https://app.example.com/callback?state=st4te&code=X",
    "https://app.example.com/callback#code=X",
    "/callback?code=X",
    "https://s.blob.core.windows.net/c/f.txt?sv=2022-11-02&sr=b&sig=X&se=2027-01-01",
    "https://b.s3.amazonaws.com/f?X-Amz-Date=20260101T000000Z&X-Amz-Signature=X",
    "https://storage.googleapis.com/b/f?X-Goog-Signature=X",
    "https://cas.example.com/login?ticket=X",
    "https://app.example.com/#access_token=X&token_type=bearer",
    "https://app.example.com/#id_token=X",
    "https://app.example.com/reset?token=X",
    "https://app.example.com/?password=X",
    "https://app.example.com/?auth=X",
    "https://app.example.com/?oobCode=X&mode=resetPassword",
    '<a href="https://app.example.com/?a=b&amp;code=X">',
    "https://app.example.com/?a=b\\u0026code=X",
    "https://id.example.com/?next=https%3A%2F%2Fapp.example.com%2F%3Fcode%3DX%26a%3Db",
    "https://id.example.com/?next=https%253A%252F%252Fapp%252F%253Faccess_token%253DX",
]


LONG = ("SplxlOBeZQQYbYS6WxSbIA", "4/0AX4XfWhAbCdEf1234_x")
SHORT = ("73b6a4c91d", "a1b2c3")
LOGINS = [text for text in ADDRESSES if "code" not in text or "callback" in text]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        *product(ADDRESSES, LONG),
        *product(LOGINS, SHORT),
    ],
)
def test_a_parameter_of_an_address_that_lets_somebody_in_is_hidden_and_nothing_else(
    text: str, secret: str
) -> None:
    masked = mask(text.replace("X", secret) if "X-" not in text else text[:-1] + secret)
    assert secret not in masked
    assert masked.replace(HIDDEN, "X") == text
    assert mask(masked) == masked


# None of these is a secret, though some stand under names, or look, as secrets do.
HARMLESS = r"""
author: Ann Smith
tokens_used: 12345
max_tokens: 4096
"max_tokens": 4096, "token_count": 17
da39a3ee5e6b4b0d3255bfef95601890afd80709
commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad
pin: 3b18e512dba79e4c8300dd08aeb37f8e728b8dad
id: 550e8400-e29b-41d4-a716-446655440000
"id": "550e8400-e29b-41d4-a716-446655440000"
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
<link integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC">
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
nginx@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
md5: 9e107d9d372bb6826bd81d3542a419d6
color: #ff00aa; background: rgb(12, 34, 56)
.sk-loading-container-1 { pin: left }
version: 1.22.333-beta.4+build.5
date: 2026-11-16T09:06:56.398Z
/usr/local/lib/python3.11/site-packages/secrets.py
C:\Users\bob\tokens\keys.txt
key: value
the key: value pairs of a map
pinned: true
pin: true
pin_count: 1234
pinterest_board: 12345678
spin: 1234
shopping: 12345
led_pin = 13
{"pin": 17, "mode": "output"}
{"pin": "left"}
monkey: 123456789012
keyboard: qwerty1234567
keywords: alpha1234, beta5678
public_key_url: https://host/keys/2026.pem
public_key: ssh-ed25519
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq0 bob@host
primary_key=1234567890
arn:aws:iam::123456789012:role/service-role/MyRole-1a2b3c4d
bob.smith+news@example.com
order +49 30 1234567-89
order_id: 1234-5678-9012
pk_live_51H8abcdefghijklmnopqrstuv
pk.public.key
https://host/search?q=code+review&page=2
https://host/?code=404
https://host/?country_code=DE&code=EUR
https://host/?code=summer
https://shop.host/item?code=SKU-123456&color=red
https://desk.host/?ticket=INC0012345
https://host/?key=name&sort=asc
https://host/?postcode=12345678
https://host/?state=af0ifjsldkj1234567890
https://host/?signature=true
https://docs.host/?code=AUTHORIZATION_CODE&sig=<signature>
s3://bucket/key-1234567890/part-00001.parquet
task-list, risk-assessment-2024-report-final, desk-1234567890abcdefgh
npm_config_registry=https://host npm_package_version=1.2.3
hf_model_name_or_path: bert-base-uncased
api-versions-and-compatibility-2026
live_streaming_configuration_manager_2026
test_that_a_long_name_of_a_test_function_is_left_alone_2026
secret_santa_list, secret-garden-of-2026
ext_modules, sc_results, re_compile, ls__all
dose of 32 mg, dapibus ac facilisis in egestas eget quam
EAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
key-value-store-with-32-characters-in-it
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
tskey-auth-xxxxx
status: value ? "PASS" : "FAIL"
SharedAccessSignature sr=host&se=1700000000&skn=root
answer: Rex
question: what is the maximum?
if sig == inspect.signature(call): return
function f(a){return a?code=b.keyCode:0}
MIT License, Apache-2.0, BSD-3-Clause, GPL-3.0-or-later
us-east-1a, eu-west-3b, pat-eu1-region
1/2/3 and 12:34:56 and 10:AA:BB:CC:DD:EE
""".strip().splitlines()


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert mask(text) == text
    assert hide({"note": text}) == {"note": text}


@pytest.mark.parametrize(
    "value",
    [
        {
            "author": "Ann",
            "tokens_used": 12,
            "token_count": "17",
            "max_tokens": 4096,
            "key": "name",
            "keys": ["a"],
        },
        {
            "pinned": "1234",
            "pin_count": 1234,
            "spin": "1234",
            "pin": True,
            "gpio_pin": 17,
            "pins": [1, 2],
        },
        {
            "sort_code_order": "asc",
            "postcode": "12345",
            "code": "E1234",
            "error_code": 1234,
            "country_code": "DE",
        },
        {"question": "First pet?", "answer": "Rex"},
        {"name": "led pin", "value": 13},
        {
            "signature": "def f(a: int) -> str",
            "state": "af0ifjsldkj",
            "hash": "9e107d9d372bb6826bd81d3542a419d6",
        },
    ],
)
def test_values_under_names_that_only_look_like_it_are_left_alone(value: dict[str, object]) -> None:
    assert hide(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"pin": "4711"},
        {"pin": 4711},
        {"door_pin": "004711"},
        {"cardPin": "4711"},
        {"PIN": "4711"},
        {"iban": "DE89370400440532013000"},
        {"IBAN": "DE89 3704 0044 0532 0130 00"},
        {"customer_iban": "DE89370400440532013000"},
        {"security_answer": "Rex"},
        {"securityAnswer2": "Rex"},
        {"secret-answer": "Rex"},
        {"mothers_maiden_name": "Smith"},
        {"card_number": "4111 1111 1111 1111"},
        {"cvc2": "123"},
        {"mfa_code": "123456"},
        {"recovery_codes": ["a1b2", "c3d4"]},
        {"auth_code": "xyz"},
        {"puk": 12345678},
        {"wachtwoord": "geheim"},
    ],
)
def test_more_names_that_promise_a_secret_hide_it_in_values_and_in_texts(
    value: dict[str, object],
) -> None:
    ((name, secret),) = value.items()
    assert hide(value) == {name: HIDDEN}
    if isinstance(secret, str):
        for text in (
            f"{name}: {secret}",
            f"{name}={secret}, and more",
            json.dumps(value),
            f"{name}: '{secret}'",
        ):
            masked = mask(text)
            assert HIDDEN in masked
            assert not set(secret.split()) & set(re.findall(r"\w+", masked))
            assert mask(masked) == masked


def test_the_answer_to_a_security_question_is_hidden_and_a_pin_that_a_field_names() -> None:
    asked = {"security_question": "First pet?", "answer": "Rex"}
    assert hide(asked) == {**asked, "answer": HIDDEN}
    for field in (
        {"name": "pin", "value": "4711"},
        {"selector": "#pin", "text": "4711"},
        {"label": "PIN field", "value": 4711},
    ):
        shown = hide(field)
        assert "4711" not in json.dumps(shown)
        assert HIDDEN in json.dumps(shown)
        assert "4711" not in mask(json.dumps(field))


BEGINNINGS = [beginning for beginning, _ in formats()]
UNITS = [
    *BEGINNINGS,
    *(beginning + "a1" * 7 for beginning in BEGINNINGS),
    *("\\n" + beginning for beginning in BEGINNINGS),
    *(
        "eyJa.eyJb-",
        "%3Fcode%3D",
        "?code=a&sig=",
        "-us1",
        "a1" * 16 + "-us",
        "Q~",
        "abc1Q~",
        "_mmk",
        "12345678:A",
    ),
    *(
        "MTA" + "a" * 22 + ".",
        "1/1234567890123456:",
        "://" + "a1" * 12,
        "login a password ",
        "-",
        "|",
        "sig=a",
    ),
    *(
        '"kty":"d":"',
        "Private-Lines: 1\n" + "A" * 64,
        "---- BEGIN ",
        "pin: 1",
        "iban: DE89 1234 ",
        "otp: 123 ",
        "%25",
    ),
]


@pytest.mark.parametrize("unit", sample(UNITS, 16))
def test_a_text_of_nothing_but_beginnings_comes_to_its_end(unit: str) -> None:
    with comes_to_an_end():
        mask((unit * 100_000)[:100_000])


@given(
    st.lists(
        st.sampled_from(
            [
                *BEGINNINGS,
                "a",
                "1",
                "_",
                "-",
                ".",
                " ",
                "\\n",
                "%3D",
                "a1b2c3d4",
                "?code=",
                "[hidden]",
            ]
        )
    )
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_is_hidden_stays_as_it_is_when_hidden_again(pieces: list[str]) -> None:
    masked = mask("".join(pieces))
    assert mask(masked) == masked

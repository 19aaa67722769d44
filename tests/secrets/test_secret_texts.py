"""What a text says of secrets is hidden however it is written; what only talks about them is
left alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foreword.secrets.masking import HIDDEN, mask
from tests.examples import examples
from tests.work_done import comes_to_an_end

pytestmark = pytest.mark.attack

# X stands for the secret.
HIDDEN_IN = [
    "password is X",
    "The password for bob@example.com is X, as before",
    "my password was `X`",
    "the password: X",
    'passphrase = "X"',
    "**Password:** X",
    "API key: X",
    "the access token is X",
    "curl -u me:X https://host",
    'curl -s -u "me:X" https://host',
    "curl --user me:X https://host",
    "curl --proxy-user=me:X https://host",
    "mysql -uroot -pX db",
    "mysqldump -u root -p'X' db",
    "sshpass -p X ssh host",
    "tool --password X --verbose",
    'tool --password "X and more"',
    "tool --password=X",
    '["tool", "--password", "X"]',
    '["curl", "-u", "me:X"]',
    '{"type":"password","value":"X"}',
    '{"Name":"DB_PASSWORD","Value":"X"}',
    '{\\"Name\\":\\"DB_PASSWORD\\",\\"Value\\":\\"X\\"}',
    '{"key": "api_key", "note": 1, "value": "X"}',
    "- name: DB_PASSWORD\n  value: X",
    '<input type="password" name="field" value="X">',
    "await page.fill('input[type=\"password\"]', 'X')",
    'page.type("#password", "X")',
    "redis-cli -a X ping",
    "POSTGRES_PASSWORD=${POSTGRES_PASSWORD:-X}",
    "token: s.X",
    "pw=X",
    "pwd: X",
    "passwd=X",
    "gmail_pass=X",
    "db_pass: X",
    "user: bob pass: X",
    '{"pass": "X"}',
    "  pass: X\n",
    "otp: X",
    "totp=X",
    "mfa: X",
    "pin_code: X",
    "PHPSESSID=X",
    "Cookie: sid=X; a=b",
    "DB_PASSWORD   = X",
    "DB_PASSWORD                   = X",
    "export GH_TOKEN=X",
    "password: X",
    "password: |\n  X",
    "Authorization: Bearer X",
    "Authorization: Token X",
    '-H "Authorization: Bearer X"',
    "authorization: X",
    'password: str = "X"',
    'token: Optional[str] = "X"',
    'api_key=SecretStr("X")',
    'password = b"X"',
    'config["password"] = "X"',
    'token = get(password="X")',
    "JWT_KEY=X",
    'password: "X',
    "url=https://host/?token=X&a=b",
]
SHOWN = [
    "secret.py:12: error: no such name",
    "src/auth/token_test.go:63: if err != nil {",
    "auth: none",
    "auth: oauth2",
    "next_page_token: CAUQAA1",
    '{"nextPageToken": "CAUQAA1", "cursor": "abc123"}',
    "page_token=CAUQAA1 continuation_token=CAUQAA1",
    "token: null",
    "password: true",
    "password: false",
    "password: required",
    '{"password": "required", "token": "expired"}',
    "token_count: 12 max_tokens=4096 tokens_used: 5",
    "password: str",
    "def login(password: str, token: Optional[str] = None) -> None:",
    "login(password: string, token?: string | null): void",
    "password = getpass()",
    'password = getpass.getpass("Password: ")',
    'api_key = os.environ["API_KEY"]',
    'os.environ["API_KEY"]',
    'apiKey := os.Getenv("API_KEY")',
    "const token = process.env.API_TOKEN;",
    "const token = header.substring(7);",
    "const token = await refresh();",
    "self.token = token",
    "connect(password=password, token=settings.api_token)",
    "SessionID: cp.sessionID,",
    'print("the token:", token)',
    'content := "token=" + highEntropySecret',
    "password: <password>",
    "token=<token from step 1>)",
    "password: $PASSWORD",
    "password=${DB_PASSWORD}",
    "password: $(pass show db)",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "token_secret: ESCALATION_TOKEN",
    "api_key: YOUR_API_KEY",
    'api_key="your-api-key-here"',
    "GH_TOKEN=github_pat_xxxx",
    "password: ****",
    "password: [hidden]",
    "JWT_SECRET=my-sup…(masked)",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "postgres://${DB_USER}:${DB_PASS}@localhost/db",
    "password is required",
    "The password is wrong. The token is invalid",
    "the password is hashed and stored",
    "Password: must be at least 8 characters",
    "the --token flag was given",
    "PASS: test_login1",
    "First pass: collect them all",
    "All tests pass: `make test`",
    "**If ALL items pass:** Continue to Step 7",
    "docker run -u 1000:1000 image",
    "docker run --user node:users image",
    "date -u +%H:%M",
    "mkdir -p build/out && ssh -p 2222 host",
    "git push -u origin main:main",
    "mysql -P3306 -p shop && redis-cli -p 6379 ping && unzip -p a.zip b",
    'page.fill("#name", "bob")',
    '{"type": "token", "value": "foo"}',
    "session_id=550e8400-e29b-41d4-a716-446655440000",
    '"session_id": "2026-01-23-abc123"',
    "pin: abc1234",
    '{"credit_card_41": {"brand": "visa"}}',
    '"JWT_KEY": "-----BEGIN PUBLIC KEY-----\\nMIIBIjANBgkq"',
]


@pytest.mark.parametrize("secret", ["hunter2Qx9Zk4Wv7Lm3", "s3cr3t-Pa55word-0f-m1ne-42abcdefgh"])
@pytest.mark.parametrize("text", HIDDEN_IN)
def test_a_secret_is_hidden_however_the_text_gives_it_away(text: str, secret: str) -> None:
    masked = mask(text.replace("X", secret))
    assert secret not in masked
    assert HIDDEN in masked
    assert mask(masked) == masked


@pytest.mark.parametrize("text", SHOWN)
def test_a_text_that_only_talks_about_secrets_is_left_alone(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("the password is swordfish.", "the password is [hidden]."),
        (
            "the password is swordfish and the user is bob",
            "the password is [hidden] and the user is bob",
        ),
        ("the password is 'two words', then", "the password is '[hidden]', then"),
        ("curl -u me:a https://host", "curl -u me:[hidden] https://host"),
        ("mysql -pa db", "mysql -p[hidden] db"),
        ("tool --password 'a b' c", "tool --password '[hidden]' c"),
        (
            "- name: DB_PASSWORD\n  value: a\n- name: B\n  value: c",
            "- name: DB_PASSWORD\n  value: [hidden]\n- name: B\n  value: c",
        ),
        ("session_id=38afes7a8jgkdl2s; a", "session_id=[hidden]; a"),
        ("password: a\nauthor: b", "password: [hidden]\nauthor: b"),
    ],
)
def test_only_the_secret_itself_is_replaced(text: str, masked: str) -> None:
    assert mask(text) == masked


WORDS = r"""
    password token api_key pass session_id name value type auth Authorization: Bearer curl mysql
    -u -p me:x --password is the for = : := " ' ` { } [ ] ( ) < > , ; $ ${A} \ | [hidden] hunter2
    abc123def456 str null a.b f( cookie: a=b eyJabcdef.abcdef.x sk-ant-api03-abcdefgh ://a:b@c
    """.split()
words = st.sampled_from([*WORDS, " ", "\n", "  ", ": ", " = ", '": "', "password is "])
texts = st.lists(words | st.text(max_size=3), max_size=14).map("".join)


@given(texts)
@example("password is token=a")
@settings(max_examples=examples(75), deadline=None)
def test_what_is_hidden_stays_as_it_is_when_hidden_again(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked


HOSTILE = r"""
    a sk- eyJ- eyJ. eyJeyJ ://a:b ://a:b@ a: a= password= password=" password='\ password=[
    password={ --a -----END \ " , &a xox SG.aaaaaaaaaaaaaaaaaaaa a.b- 12345678:AA cookie: token=, `
    _ . - token=f( token:<a token=a.b. pass:/ session_id=/a1 token:Optional[ type=password,value= -u
    -ua:b -pa password=$( password_ <
    """.split()
HOSTILE += [
    " ",
    "\n",
    "lorem ipsum ",
    "Basic aaaaaaaa",
    "Bearer a",
    "-----BEGIN PRIVATE KEY-----",
    "password ",
]
HOSTILE += [
    "password is ",
    "password for a ",
    "mysql -px ",
    "curl -u a:b ",
    "--password x ",
    "name: password\n",
    'fill("',
    "pass: a ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_secret_behind_a_hostile_text_is_still_found(unit: str) -> None:
    with comes_to_an_end():
        masked = mask((unit * 100_000)[:100_000] + "\n password: hunter22")
    assert "hunter22" not in masked

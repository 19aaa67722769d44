"""The formats of keys and tokens that tell their issuer: how they begin, and what comes after that.

Facts from the issuers and from what scanners of repositories know (gitleaks, detect-secrets,
secretlint, trufflehog, kingfisher). A body may be shorter than the issuer's own length, about half
of it, and as long as it likes: a key that was cut off, or that has grown since, is still one. Where
a key may have `+`, `/` or `=`, it may have them as an address does (`%2B`). `patterns` searches
texts for them.
"""

from __future__ import annotations

from collections.abc import Iterator

# Issuer: beginnings, then the body as a pattern. A body marked with * has a digit near its start,
# as words have not.
_FORMATS = r"""
Adafruit: aio_ [A-Za-z0-9]{28}(?![A-Za-z0-9])
Adobe: p8e- *[\w-]{24,}
age: AGE-SECRET-KEY-1 [A-Z0-9]{20,}
Airtable: pat [A-Za-z0-9]{14}\.[0-9a-f]{40,}
Aiven: AVNS_ [\w-]{16,}
Akamai: akab- [a-z0-9]{16}-[a-z0-9]{16}
Alibaba: LTAI *[A-Za-z0-9]{12,}
Anthropic: sk-ant- [\w-]{8,}
Apify: apify_api_ [A-Za-z0-9]{16,}
Artifactory: AKCp *[A-Za-z0-9]{40,}
Artifactory: cmVmd [A-Za-z0-9]{59}(?![A-Za-z0-9+/=])
Atlassian: ATATT3 ATCTT3 ATSTT3 [\w=-]{24,}
Authress: sc_ ext_ scauth_ authress_ [A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,}
AWS: AKIA ASIA ABIA ACCA [A-Z0-9]{16}(?![A-Za-z0-9])
AWS: A3T [A-Z0-9]{17}(?![A-Za-z0-9])
AWS: ABSK [A-Za-z0-9+/%]{60,}={0,2}
AWS: bedrock-api-key- [\w+/=%-]{20,}
AWS: AQoDYXdz FwoGZXIvYXdz IQoJb3JpZ2lu [A-Za-z0-9+/%]{60,}={0,2}
Bitbucket: ATBB *[A-Za-z0-9]{24,}
Browserbase: bb_live_ bb_test_ [\w-]{16,}
Buildkite: bkua_ bkaj_ bkct_ [0-9a-f]{32,}
Cal.com: cal_live_ [0-9a-f]{24,}
Cerebras: csk- *[a-z0-9]{32,}
CircleCI: CCIPAT_ CCIPRJ_ \w{24,}
ClickHouse: 4b1d [A-Za-z0-9]{38}(?![A-Za-z0-9])
ClickUp: pk_ \d{6,10}_[A-Z0-9]{24,}
Clojars: CLOJARS_ [A-Za-z0-9]{40,}
Cloudflare: cfk_ cfut_ cfat_ [\w-]{32,}
Cloudflare: v1.0- [0-9a-f]{24,64}(?:-[0-9a-f]{60,}){1,2}
CockroachDB: CCDB1_ \w{20,}
Contentful: CFPAT- [\w-]{32,}
crates.io: cio *[A-Za-z0-9]{32}(?![A-Za-z0-9])
Databricks: dapi dose dkea [0-9A-Fa-f]{32}(?:-\d)?(?![A-Za-z0-9])
dbt: dbtc_ dbtu_ dbts_ *[\w=-]{20,}
Defined_Networking: dnkey- [\w=-]{40,}
Deno: ddp_ ddo_ ddw_ [A-Za-z0-9]{30,}
DigitalOcean: dop_v1_ doo_v1_ dor_v1_ [0-9a-f]{32,}
DigitalOcean: DO00 [A-Z0-9]{16}(?![A-Za-z0-9])
Docker: dckr_pat_ dckr_oat_ [\w-]{16,}
Doppler: dp.pt. dp.ct. dp.sa. dp.st. dp.scim. dp.audit. (?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{24,}
Dropbox: sl. (?:u\.)?[\w-]{100,}
Duffel: duffel_test_ duffel_live_ [\w=-]{24,}
Dynatrace: dt0 [a-z]\d\d\.[A-Za-z0-9]{20,}(?:\.[A-Za-z0-9]{20,})?
E2B: e2b_ [0-9a-f]{32,}
EasyPost: EZAK EZTK [A-Za-z0-9]{40,}
ElevenLabs: sk_ [0-9a-f]{40,}(?![A-Za-z0-9])
Facebook: EAAC EAAM [A-Za-z0-9]{100,}
Figma: figd_ figo_ figoh_ figu_ [\w-]{24,}
Firecrawl: fc- [0-9a-f]{32}(?![A-Za-z0-9])
Flutterwave: FLWSECK- FLWSECK_TEST- [A-Za-z0-9]{12,}(?:-X)?
Fly: fo1_ [\w-]{30,}
Fly: fm1a_ fm1r_ fm2_ [A-Za-z0-9+/%]{40,}={0,3}
Frame.io: fio-u- [\w=-]{40,}
GitHub: ghp_ gho_ ghu_ ghs_ ghr_ [A-Za-z0-9]{16,}
GitHub: github_pat_ \w{16,}
GitHub: v1. [0-9a-f]{40}(?![A-Za-z0-9])
GitLab: glptt- glagent- gloas- glffct- glwt- glimt- [\w-]{16,}
GitLab: glpat- gldt- glft- glsoat- glrt- glrtr- glcbt- [\w-]{16,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?
GitLab: GR1348941 [\w-]{16,}
Google: AIza [\w-]{30,}
Google: ya29. GOCSPX- [\w-]{16,}
Google: 1//0 1%2F%2F0 [\w-]{20,}
Google: AAAA [\w-]{7}(?::|%3A)[\w-]{130,}
Grafana: glsa_ [A-Za-z0-9]{20,}(?:_[0-9A-Fa-f]{8})?
Grafana: glc_ [A-Za-z0-9+/%]{24,}={0,2}
Grafana: eyJrIjoi [\w+/%-]{40,}={0,3}
Groq: gsk_ [A-Za-z0-9]{30,}
Harness: pat. sat. [\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
Heroku: HRKU- [\w-]{30,}
Honeycomb: hcaik_ hcamk_ [A-Za-z0-9]{40,}
HubSpot: pat- [a-z]{2}\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
Hugging_Face: hf_ [A-Za-z0-9]{16,}
Hugging_Face: api_org_ [A-Za-z]{30,}
Infracost: ico- *[A-Za-z0-9]{32}(?![A-Za-z0-9])
Intercom: dG9rOj [A-Za-z0-9+/%]{40,}={0,2}
Intra42: s-s4t2ud- s-s4t2af- [0-9a-f]{32,}
Jina: jina_ [0-9a-f]{24}\w*
LangSmith: lsv2_pt_ lsv2_sk_ ls__ [0-9a-f]{32}(?:_[0-9a-f]{10})?
JWT_in_base64: ZXlK [A-Za-z0-9+/%]{60,}={0,2}
Linear: lin_api_ lin_oauth_ [A-Za-z0-9]{16,}
Lob: live_ test_ [0-9a-f]{35}(?![A-Za-z0-9])
MailerSend: mlsn. [0-9a-f]{40,}
Mailgun: key- [0-9a-f]{32}(?![A-Za-z0-9])
Mapbox: sk. tk. eyJ[\w-]{20,}\.[\w-]{16,}
Matrix: syt_ [A-Za-z0-9+/]{4,200}_[A-Za-z]{20}_[A-Za-z0-9]{6}
MongoDB: mdb_sa_sk_ [\w-]{30,}
Neon: napi_ [a-z0-9]{40,}
Neon: npg_ *[A-Za-z0-9]{10,}
Netlify: nfp_ nfo_ nfc_ nfu_ nfb_ [A-Za-z0-9]{30,}
New_Relic: NRAK- NRII- NRIQ- NRRA- NRAA- NRSP- NRJS- [\w.-]{16,}
Notion: ntn_ secret_ *[A-Za-z0-9]{24,}
npm: npm_ [A-Za-z0-9]{30,}
NuGet: oy2 [a-z0-9]{43}(?![A-Za-z0-9])
NVIDIA: nvapi- [\w-]{40,}
Octopus: API- *[A-Z0-9]{25,26}(?![A-Za-z0-9])
1Password: ops_ eyJ[\w+/%-]{60,}={0,3}
1Password: A3- [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}
OpenAI: sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf- sk-live- sk-test- [\w-]{8,}
OpenAI: sk- *[A-Za-z0-9]{16,}
OpenShift: sha256~ [\w-]{40,}
Packagist: packagist_ [a-z]{3}_[0-9a-f]{40,}
Perplexity: pplx- [A-Za-z0-9]{20,}
Pinecone: pcsk_ \w{24,}
Plaid: access-sandbox- access-development- access-production- [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
PlanetScale: pscale_tkn_ pscale_oauth_ pscale_pw_ [\w=.-]{24,}
PostHog: phx_ phs_ [A-Za-z0-9]{32,}
Postman: PMAK- [0-9a-fA-F]{24}-[0-9a-fA-F]{24,}
Postman: PMAT- [A-Z0-9]{24,}
Prefect: pnu_ pnb_ [A-Za-z0-9]{30,}
Pulumi: pul- [0-9a-f]{40}
PyPI: pypi-AgE [\w-]{16,}
ReadMe: rdme_ [a-z0-9]{40,}
Render: rnd_ *[A-Za-z0-9]{24,}
Replicate: r8_ [A-Za-z0-9]{30,}
Resend: re_ [A-Za-z0-9]{8}_[A-Za-z0-9]{20,}
RubyGems: rubygems_ [0-9a-f]{32,}
Scaleway: SCW *[A-Z0-9]{17}(?![A-Za-z0-9])
Scalingo: tk-us- [\w-]{32,}
SendGrid: SG. [\w-]{16,64}\.[\w-]{16,}
Sendinblue: xkeysib- xsmtpsib- [0-9a-f]{40,}(?:-[A-Za-z0-9]{16})?
Sentry: sntrys_ sntryu_ sntrya_ sntryi_ [\w+/=%]{32,}
SettleMint: sm_aat_ sm_pat_ sm_sat_ [A-Za-z0-9]{16,}
Shippo: shippo_live_ shippo_test_ [0-9a-fA-F]{32,}
Shopify: shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ [A-Za-z0-9]{32,}
Slack: xox [a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}
Slack: xapp- xwfp- \d-[A-Za-z0-9-]{10,}
SonarQube: sqp_ squ_ sqa_ [0-9a-f]{40}
Sourcegraph: sgp_ \w{40,}
Sourcegraph: slk_ [0-9a-f]{40,}
Square: sq0atp- sq0csp- [\w-]{20,}
Square: EAAA *(?!AAA)[\w+=-]{22,60}(?![\w+/=-])
StackHawk: hawk. [\w-]{16,64}\.[\w-]{16,}
Statsig: secret- *[A-Za-z0-9]{36,}
Stripe: sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ [A-Za-z0-9]{8,}
Stripe: whsec_ [A-Za-z0-9+/=%]{16,}
Stytch: secret-live- secret-test- [\w=-]{24,}
Supabase: sbp_ (?:[a-z0-9]{2,8}_)?[0-9a-f]{32,}
Supabase: sb_secret_ [\w-]{16,}
Tailscale: tskey- (?=[A-Za-z_-]{0,60}\d)[\w-]{10,}
Tavily: tvly- [A-Za-z0-9-]{20,}
Tencent: AKID [A-Za-z0-9]{32}(?![A-Za-z0-9])
Together: tgp_v1_ [\w-]{24,}
Twilio: SK [0-9a-fA-F]{32}(?![A-Za-z0-9])
Twitter: AAAAAAAAAAAAAAAAAAAAA A{0,4}(?=[A-Za-z0-9]{0,100}%(?:25)?(?:2[BF]|3D))[A-Za-z0-9%]{40,}
Typeform: tfp_ [\w.=-]{32,}
Vault: hvs. hvb. hvr. [\w-]{20,}
Vault: s. (?=[A-Za-z]{0,22}\d[A-Za-z]{0,22}\d)[A-Za-z0-9]{24}(?![\w.(-])
Vercel: vcp_ vci_ vca_ vcr_ vck_ [A-Za-z0-9]{30,}
Weights_and_Biases: wandb_v1_ \w{30,}
xAI: xai- [A-Za-z0-9]{20,}
Xata: xau_ [A-Za-z0-9]{30,}
Yandex: AQVN [\w-]{35,}
Yandex: t1. *[\w-]{10,300}={0,2}\.[\w-]{60,}={0,2}
Yandex: y0_ *[\w-]{40,}
Zuplo: zpka_ [A-Za-z0-9]{24,}
"""
# Of a thousand keys of letters and digits one has no digit among its first 40 characters; among 24
# it would be 15.
_DIGIT = r"(?=[A-Za-z_-]{0,40}\d)"


def formats() -> Iterator[tuple[str, str]]:
    """Every beginning, and the pattern of what comes after it."""
    for line in _FORMATS.strip().split("\n"):
        _, _, facts = line.partition(": ")
        *beginnings, body = facts.split(" ")
        if body.startswith("*"):
            body = _DIGIT + body[1:]
        for beginning in beginnings:
            yield beginning, body

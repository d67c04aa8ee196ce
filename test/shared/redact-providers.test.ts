import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { platformRules } from '../../scripts/shared/redact-platforms.ts';
import { serviceRules } from '../../scripts/shared/redact-services.ts';
import { base32, base64, digits, hex, joined, lower, made, madeUuid, upper } from '../support/secrets.ts';

const redactor = createRedactor({});
const rules = [...platformRules, ...serviceRules];
const alnumLower = `${lower}${digits}`;
const alnumUpper = `${upper}${digits}`;

/** Rule → a key as its provider makes it, and one that only looks like it. */
const samples: Readonly<Record<string, readonly [key: string, nearMiss: string]>> = {
  'github-token': [joined('gh', 'p_', made(36)), joined('gh', 'p_', made(20))],
  'github-pat': [joined('github', '_pat_', made(22), '_', made(59)), joined('github', '_pat_', made(22))],
  'gitlab-token': [joined('gl', 'pat-', made(20)), joined('gl', 'pat-', made(11))],
  'gitlab-runner-registration': [joined('GR', '1348941', made(20)), joined('GR', '1348941', made(9))],
  'bitbucket-app-password': [joined('AT', 'BB', made(32)), joined('AT', 'BB', made(12))],
  'atlassian-token': [joined('ATATT3x', 'FfGF0', made(180)), joined('ATATT3x', 'FfGF1', made(180))],
  'azure-devops-pat': [joined(made(76), 'AZ', 'DO', made(4)), joined(made(70), 'AZ', 'DO', made(4))],
  'sourcegraph-token': [joined('sg', 'p_', made(16, hex), '_', made(40, hex)), joined('sg', 'p_', made(30, hex))],
  'npm-token': [joined('np', 'm_', made(36)), joined('np', 'm_', 'config_registry')],
  'pypi-token': [joined('pypi-', 'AgEIcHlwaS5vcmc', made(120)), joined('pypi-', 'attestations-', made(20))],
  'rubygems-key': [joined('ruby', 'gems_', made(48, hex)), joined('ruby', 'gems_', 'mirror_url')],
  'nuget-key': [joined('oy', '2', made(43, alnumLower)), joined('oy', '2', made(30, alnumLower))],
  'crates-io-token': [joined('ci', 'o', made(32)), joined('ci', 'o', made(20))],
  'clojars-token': [joined('CLO', 'JARS_', made(60, alnumLower)), joined('CLO', 'JARS_', made(20, alnumLower))],
  'packagist-token': [
    joined('pack', 'agist_', 'uut_', made(68, hex)),
    joined('pack', 'agist_', 'mirror_', made(30, hex)),
  ],
  'docker-hub-token': [joined('dckr', '_pat_', made(27)), joined('dckr', '_pat_', made(9))],
  'artifactory-key': [joined('AK', 'Cp', made(69)), joined('AK', 'Cp', made(20))],
  'deno-deploy-token': [joined('dd', 'p_', made(36)), joined('dd', 'p_', made(10))],
  'aws-access-key-id': [joined('AK', 'IA', made(16, base32)), joined('AK', 'IA', made(12, base32))],
  'aws-secret-beside-id': [
    joined('AK', 'IA', made(16, base32), ',', made(40, base64)),
    joined('AS', 'IB', made(16, base32), ',row'),
  ],
  'aws-secret-access-key': [
    joined('Secret Access', ' Key [None]: ', made(40, base64)),
    'Secret Access Key [None]: not set',
  ],
  'aws-bedrock-key': [joined('AB', 'SK', made(120, base64)), joined('AB', 'SK', made(20))],
  'google-api-key': [joined('AI', 'za', made(35)), joined('AI', 'za', made(15))],
  'google-oauth-secret': [joined('GOC', 'SPX-', made(28)), joined('GOC', 'SPX-', made(8))],
  'google-access-token': [joined('ya', '29.', made(120)), joined('ya', '29.', made(6))],
  'google-refresh-token': [joined('1/', '/0', made(60)), joined('1/', '/0', made(10))],
  'azure-client-secret': [joined('aB3', '8Q', '~', made(34)), joined('aB3', '8Q', '~', made(12))],
  'azure-storage-key': [joined('Account', 'Key=', made(86, base64), '=='), joined('Account', 'Key=', '<key>')],
  'azure-identifiable-key': [joined(made(52), 'JQ', 'QJ9', '9', made(26)), joined(made(20), 'JQ', 'QJ9', '9')],
  'digitalocean-token': [joined('do', 'p_v1_', made(64, hex)), joined('do', 'p_v1_', made(40, hex))],
  'cloudflare-token': [joined('cf', 'ut_', made(48)), joined('cf', 'ut_', made(12))],
  'cloudflare-origin-ca': [joined('v1', '.0-', made(24, hex), '-', made(146, hex)), joined('v1', '.0-', made(24, hex))],
  'heroku-key': [joined('HR', 'KU-', madeUuid()), joined('HR', 'KU-', made(12))],
  'fly-token': [joined('fo', '1_', made(43)), joined('fo', '1_', made(12))],
  'netlify-token': [joined('nf', 'p_', made(36)), joined('nf', 'p_', made(12))],
  'vercel-token': [joined('vc', 'p_', made(56)), joined('vc', 'p_', made(9))],
  'render-key': [joined('rn', 'd_', made(32)), joined('rn', 'd_', made(9))],
  'alibaba-access-key': [joined('LT', 'AI', made(20)), joined('LT', 'AI', made(6))],
  'tencent-secret-id': [joined('AK', 'ID', made(32)), joined('AK', 'ID', made(9))],
  'yandex-key': [joined('AQ', 'VN', made(36)), joined('AQ', 'VN', made(9))],
  'scaleway-access-key': [joined('SC', 'W', made(17, alnumUpper)), joined('SC', 'W', made(9, alnumUpper))],
  'openshift-token': [joined('sha', '256~', made(43)), joined('sha', '256:', made(64, hex))],
  'supabase-key': [joined('sb', 'p_', made(40, hex)), joined('sb', 'p_', made(9, hex))],
  'planetscale-token': [joined('pscale', '_tkn_', made(43)), joined('pscale', '_tkn_', made(9))],
  'neon-key': [joined('na', 'pi_', made(64, alnumLower)), joined('na', 'pi_', 'make_callback')],
  'databricks-token': [joined('da', 'pi', made(32, hex)), joined('da', 'pi', made(20, hex))],
  'confluent-key': [joined('cf', 'lt', made(60, base64)), joined('cf', 'lt', made(20))],
  'mongodb-atlas-secret': [joined('mdb', '_sa_sk_', made(40)), joined('mdb', '_sa_sk_', made(9))],
  'xata-key': [joined('xa', 'u_', made(36)), joined('xa', 'u_', made(9))],
  'aiven-token': [joined('aiven', 'v1', made(80, base64)), joined('aiven', 'v1', made(9))],
  'vault-token': [joined('hv', 's.', made(95)), joined('hv', 's.', made(9))],
  'terraform-cloud-token': [joined(made(14), '.atlas', 'v1.', made(67)), joined(made(14), '.atlas', 'v1.', made(20))],
  'pulumi-token': [joined('pu', 'l-', made(40, hex)), joined('pu', 'l-', made(20, hex))],
  'doppler-token': [joined('dp', '.st.prod.', made(43)), joined('dp', '.st.prod.', made(9))],
  'onepassword-service-account': [joined('ops', '_ey', made(300)), joined('ops', '_ey', made(9))],
  'onepassword-secret-key': [
    joined('A', '3-', [6, 6, 5, 5, 5, 5].map((length, at) => made(length, alnumUpper, at + 1)).join('-')),
    joined('A', '3-', made(6, alnumUpper), '-', made(5, alnumUpper)),
  ],
  'age-secret-key': [
    joined('AGE-SECRET', '-KEY-1', made(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')),
    joined('AGE-SECRET', '-KEY-1', made(9, upper)),
  ],
  'tailscale-key': [joined('ts', 'key-', 'auth-', made(16), '-', made(32)), joined('ts', 'key-', 'auth-', made(3))],
  'harness-token': [
    joined('pa', 't.', made(22), '.', made(24, hex), '.', made(20)),
    joined('pa', 't.', made(9), '.', made(24, hex)),
  ],
  'octopus-key': [joined('AP', 'I-', made(26, alnumUpper)), joined('AP', 'I-', made(9, alnumUpper))],
  'circleci-token': [joined('CCI', 'PAT_', made(22), '_', made(40, hex)), joined('CCI', 'PAT_', made(22))],
  'buildkite-token': [joined('bk', 'ua_', made(40, hex)), joined('bk', 'ua_', made(9, hex))],
  'prefect-key': [joined('pn', 'u_', made(36)), joined('pn', 'u_', made(9))],
  'scalingo-token': [joined('tk', '-us-', made(48)), joined('tk', '-us-', made(9))],
  'openai-key': [joined('sk-', 'proj-', made(74), '_-', made(30)), joined('sk-', 'proj-', made(8))],
  'openai-legacy-key': [joined('sk', '-', made(48)), joined('sk', '-', 'learn-contrib')],
  'anthropic-key': [joined('sk-', 'ant-', 'api03-', made(93), 'AA'), joined('sk-', 'ant-', 'api03-', made(6))],
  'openrouter-key': [joined('sk-', 'or-v1-', made(64, hex)), joined('sk-', 'or-v1-', made(20, hex))],
  'langfuse-key': [joined('sk-', 'lf-', madeUuid()), joined('sk-', 'lf-', made(8, hex))],
  'groq-key': [joined('gs', 'k_', made(52)), joined('gs', 'k_', made(20))],
  'xai-key': [joined('xa', 'i-', made(80)), joined('xa', 'i-', made(20))],
  'perplexity-key': [joined('pp', 'lx-', made(48)), joined('pp', 'lx-', made(20))],
  'hugging-face-token': [joined('h', 'f_', made(34)), joined('h', 'f_', made(20))],
  'replicate-token': [joined('r', '8_', made(37)), joined('r', '8_', made(20))],
  'fireworks-key': [joined('f', 'w_', made(24)), joined('f', 'w_', made(12))],
  'together-key': [joined('tg', 'p_v1_', made(43)), joined('tg', 'p_v1_', made(12))],
  'langsmith-key': [
    joined('ls', 'v2_', 'pt_', made(32, hex), '_', made(10, hex)),
    joined('ls', 'v2_', 'pt_', made(32, hex)),
  ],
  'pinecone-key': [joined('pc', 'sk_', made(6), '_', made(60)), joined('pc', 'sk_', made(6))],
  'nvidia-key': [joined('nv', 'api-', made(64)), joined('nv', 'api-', made(12))],
  'cerebras-key': [joined('cs', 'k-', made(48, alnumLower)), joined('cs', 'k-', made(12, alnumLower))],
  'elevenlabs-key': [joined('s', 'k_', made(48, hex)), joined('s', 'k_', made(20, hex))],
  'jina-key': [joined('ji', 'na_', made(60)), joined('ji', 'na_', made(12))],
  'e2b-key': [joined('e2', 'b_', made(40, hex)), joined('e2', 'b_', made(12, hex))],
  'tavily-key': [joined('tv', 'ly-', 'dev-', made(32)), joined('tv', 'ly-', 'dev-', made(8))],
  'firecrawl-key': [joined('f', 'c-', made(32, hex)), joined('f', 'c_', made(32, hex))],
  'apify-token': [joined('apify', '_api_', made(36)), joined('apify', '_api_', made(12))],
  'cursor-key': [joined('ke', 'y_', made(64, hex)), joined('ke', 'y_', made(40, hex))],
  'context7-key': [joined('ctx7', 'sk-', madeUuid()), joined('ctx7', 'sk-', made(8, hex))],
  'stripe-key': [joined('sk', '_live_', made(24)), joined('sk', '_live_', 'mode')],
  'stripe-webhook-secret': [joined('wh', 'sec_', made(32)), joined('wh', 'sec_', made(9))],
  'square-token': [joined('sq0', 'atp-', made(22)), joined('sq0', 'atp-', made(9))],
  'paypal-braintree-token': [
    joined('access_', 'token$', 'production$', made(16, alnumLower), '$', made(32, hex)),
    joined('access_', 'token$', 'production$', made(9, alnumLower)),
  ],
  'shopify-token': [joined('shp', 'at_', made(32, hex)), joined('shp', 'at_', made(9, hex))],
  'razorpay-key': [joined('rzp', '_live_', made(14)), joined('rzp', '_live_', made(6))],
  'flutterwave-key': [joined('FLW', 'SECK-', made(32, hex), '-X'), joined('FLW', 'SECK-', made(5, hex))],
  'plaid-token': [joined('access', '-sandbox-', madeUuid()), joined('access', '-sandbox-', made(8, hex))],
  'easypost-key': [joined('EZ', 'AK', made(54)), joined('EZ', 'AK', made(20))],
  'shippo-token': [joined('ship', 'po_live_', made(40, hex)), joined('ship', 'po_live_', made(9, hex))],
  'duffel-token': [joined('duf', 'fel_live_', made(43)), joined('duf', 'fel_live_', made(9))],
  'paddle-key': [
    joined('pd', 'l_live_', 'apikey_', made(26, alnumLower), '_', made(22), '_', made(3)),
    joined('pd', 'l_live_', 'apikey_', made(26, alnumLower)),
  ],
  'polar-token': [joined('po', 'lar_oat_', made(43)), joined('po', 'lar_oat_', made(9))],
  'slack-token': [
    joined('xo', 'xb-', made(12, digits), '-', made(12, digits), '-', made(24)),
    joined('xo', 'xb-', made(5)),
  ],
  'slack-webhook': [
    joined('https://hooks.slack.com/ser', 'vices/T', made(9, alnumUpper), '/B', made(10, alnumUpper), '/', made(24)),
    'https://hooks.slack.com/services/T0/B0/x',
  ],
  'discord-bot-token': [
    joined('M', 'T', made(24), '.', made(6), '.', made(38)),
    joined('M', 'T', made(24), '.', made(6)),
  ],
  'discord-webhook': [
    joined('https://discord.com/api/web', 'hooks/', made(18, digits), '/', made(68)),
    joined('https://discord.com/api/web', 'hooks/', made(18, digits)),
  ],
  'telegram-bot-token': [
    joined(made(10, '123456789'), ':A', 'A', made(33)),
    joined(made(10, '123456789'), ':A', 'A', made(9)),
  ],
  'teams-webhook': [
    joined(
      'https://x.webhook.office.com/web',
      'hookb2/',
      madeUuid(1),
      '@',
      madeUuid(2),
      '/IncomingWebhook/',
      made(32, hex),
      '/',
      madeUuid(3),
    ),
    joined('https://x.webhook.office.com/web', 'hookb2/', madeUuid()),
  ],
  'google-chat-webhook': [
    joined(
      'https://chat.googleapis.com/v1/spa',
      'ces/',
      made(11),
      '/messages?ke',
      'y=',
      made(39),
      '&tok',
      'en=',
      made(43),
    ),
    'https://chat.googleapis.com/v1/spaces/AAAAbbbb/messages',
  ],
  'zapier-webhook': [
    joined('https://hooks.zapier.com/hooks/', 'catch/', made(8, digits), '/', made(7, alnumLower)),
    'https://hooks.zapier.com/docs/catch',
  ],
  'twilio-key': [joined('S', 'K', made(32, hex)), joined('S', 'K', made(20, hex))],
  'sendgrid-key': [joined('S', 'G.', made(22), '.', made(43)), joined('S', 'G.', made(22))],
  'mailgun-key': [joined('ke', 'y-', made(32, hex)), joined('ke', 'y-', made(20, hex))],
  'mailchimp-key': [joined(made(32, hex), '-u', 's12'), joined(made(20, hex), '-u', 's12')],
  'brevo-key': [joined('xkey', 'sib-', made(64, hex), '-', made(16)), joined('xkey', 'sib-', made(20, hex))],
  'resend-key': [joined('r', 'e_', made(8), '_', made(24)), joined('r', 'e_', made(8), '_', made(9))],
  'facebook-token': [joined('EA', 'A', made(120)), joined('EA', 'A', made(30))],
  'twitter-bearer': [joined('A'.repeat(22), made(20), '%2B', made(60)), joined('A'.repeat(22), made(20))],
  'intercom-token': [joined('dG9', 'rOg', made(54), '='), joined('dG9', 'rOg', made(9))],
  'hubspot-token': [joined('pat', '-na1-', madeUuid()), joined('pat', '-na1-', made(8, hex))],
  'notion-token': [joined('nt', 'n_', made(46)), joined('nt', 'n_', made(9))],
  'linear-key': [joined('lin', '_api_', made(40)), joined('lin', '_api_', made(9))],
  'figma-token': [joined('fig', 'd_', made(40)), joined('fig', 'd_', made(9))],
  'airtable-token': [joined('pa', 't', made(14), '.', made(64, hex)), joined('pa', 't', made(14), '.', made(20, hex))],
  'clickup-token': [
    joined('p', 'k_', made(8, '123456789'), '_', made(32, alnumUpper)),
    joined('p', 'k_', made(8, '123456789')),
  ],
  'typeform-token': [joined('tf', 'p_', made(59)), joined('tf', 'p_', made(9))],
  'contentful-token': [joined('CF', 'PAT-', made(43)), joined('CF', 'PAT-', made(9))],
  'dropbox-token': [joined('s', 'l.', made(136)), joined('s', 'l.', made(20))],
  'adobe-secret': [joined('p8', 'e-', made(32)), joined('p8', 'e-', made(9))],
  'mapbox-secret': [joined('s', 'k.ey', made(60), '.', made(22)), joined('s', 'k.ey', made(9), '.', made(9))],
  'postman-key': [joined('PM', 'AK-', made(24, hex), '-', made(34, hex)), joined('PM', 'AK-', made(24, hex))],
  'readme-key': [joined('rd', 'me_', made(70, alnumLower)), joined('rd', 'me_', made(9, alnumLower))],
  'zuplo-key': [
    joined('zp', 'ka_', made(32, alnumLower), '_', made(8, hex)),
    joined('zp', 'ka_', made(32, alnumLower)),
  ],
  'frameio-token': [joined('fi', 'o-u-', made(64)), joined('fi', 'o-u-', made(9))],
  'sentry-token': [joined('sn', 'tryu_', made(64, hex)), joined('sn', 'tryu_', made(9, hex))],
  'new-relic-key': [joined('NR', 'AK-', made(27, alnumUpper)), joined('NR', 'AK-', made(9, alnumUpper))],
  'new-relic-ingest-key': [joined(made(36, hex), 'NR', 'AL'), joined(made(30, hex), 'NR', 'AL')],
  'grafana-token': [joined('gl', 'sa_', made(32), '_', made(8, hex)), joined('gl', 'sa_', made(9))],
  'dynatrace-token': [
    joined('dt0', 'c01.', made(24, base32), '.', made(64, base32)),
    joined('dt0', 'c01.', made(24, base32)),
  ],
  'honeycomb-key': [joined('hca', 'ik_', made(58, alnumLower)), joined('hca', 'ik_', made(9, alnumLower))],
  'posthog-key': [joined('ph', 'x_', made(43)), joined('ph', 'x_', made(9))],
  'sonar-token': [joined('sq', 'p_', made(40, hex)), joined('sq', 'p_', made(9, hex))],
  'launchdarkly-key': [joined('sd', 'k-', madeUuid()), joined('sd', 'k-', made(8, hex))],
  'inngest-signing-key': [joined('sign', 'key-prod-', made(64, hex)), joined('sign', 'key-prod-', made(9, hex))],
  'dbt-token': [joined('db', 'tc_', made(44)), joined('db', 'tc_', made(9))],
};

test('every form rule has a sample, and they cover at least 60 providers', () => {
  assert.deepEqual(rules.map(({ id }) => id).sort(), Object.keys(samples).sort());
  assert.ok(new Set(rules.map(({ provider }) => provider)).size >= 60);
});

for (const { id, provider } of rules) {
  const [key, nearMiss] = samples[id] ?? ['', ''];

  test(`${provider}: ${id} goes wherever it stands`, () => {
    for (const wrap of wrappings) {
      const found = redactor.find(wrap(key));
      assert.ok(found.some(({ rule }) => rule === id) || provider === 'AWS', `${wrap(key)}: ${JSON.stringify(found)}`);
      const clean = redactor.redact(wrap(key));
      assert.ok(!clean.includes(key.slice(-12)), clean);
      assert.equal(redactor.redact(clean), clean);
    }
  });

  test(`${provider}: what only resembles ${id} stays`, () => {
    const text = `see ${nearMiss} there`;
    assert.equal(redactor.redact(text), text);
  });
}

const wrappings: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => `it printed ${key}, then stopped`,
  (key) => `🔑${key}🔑 Schlüssel→${key}`,
  (key) => `first\r\n${key}\r\nlast`,
  (key) => JSON.stringify({ out: `first\n${key}\nlast` }),
  (key) => JSON.stringify(JSON.stringify({ out: `first\n${key}\nlast` })),
  (key) => `\u001b[32m${key}\u001b[0m`,
];

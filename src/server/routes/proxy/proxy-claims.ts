/**
 * Headers by which proxies and CDNs tell servers and frameworks whose request it is, and for what: only this server's
 * `X-Forwarded-*` is true. New products invent new names, so names are judged by their words. A list of what may pass
 * would drop the headers of an application (`X-Api-Key`, signatures of webhooks), which nobody could list.
 */

/** Whom or what a header describes. */
const SUBJECTS = words(
  'auth authenticated authentication authorized backend balancer base client cluster connecting downstream edge encoded external front frontend incoming lb origin ' +
    'original originating override peer proxied public raw real remote replaced request requested rewrite rewritten ' +
    'server signed source src sso stripped true unencoded upstream viewer',
)

/** What it says of them. */
const FACTS = words(
  'addr address cert certificate cn domain email group groups host hostname http login mail method path port prefix proto ' +
    'protocol query role roles scheme serial subject upn uri url user username verified verify',
)

/** Words that only such headers have, joined ones included: `ClientIP`. */
const CLAIM_WORD = new RegExp(
  '^(?:forward|forwarded|forwarder|forwards|fwd|xff|ssl|tls|https|dn|geoip|' +
    'aad|apigateway|assertion|authenticated|clerk|consumer|eppn|identity|impersonate|impersonated|keycloak|ldap|mtls|' +
    'saml|spiffe|sso|teleport|userinfo|vouch|' +
    '(?:client|connecting|origin|original|peer|proxy|proxyuser|real|remote|socket|source|src|true|user|viewer|visitor)?' +
    '(?:ip|ips|ipv4|ipv6|ipaddr|ipaddress)|' +
    '(?:client|original|peer|remote|source)(?:addr|address|cert|dn|host|path|port|uri|url)|' +
    'distinguishedname|employee(?:id|number|type)|entitlement|logon|object(?:guid|sid)|schac[a-z]+|upn|' +
    '[a-z]+user(?:dn|e?mail|groups?|id|info|roles?)?)$',
)

/** In joined words, as directories and SAML write them: `userPrincipalName`, `eduPersonAffiliation`, `isMemberOf`. */
const CLAIM_PART = /accountname|affiliation|eduperson|memberof|nameid|principal|username/

/** Ends with who somebody is, or may do: `X-Trino-User`, `X-Token-User-Email`, `X-Splunk-Roles`. */
const CLAIM_END = new RegExp(
  '(?:^|-)(?:user(?:name|id)?|sub|authorities|claims|entitlements|groups|permissions|privileges|roles|scopes|' +
    'is-(?:admin|authenticated|employee|internal|staff|superuser|trusted)|(?:act|in|login|run)-as|' +
    '(?:pairwise|subject|targeted)-id|' +
    '(?:jwt|token|user)-(?:attributes|context|data|e?mail|fullname|groups?|id|info|name|org|payload|permission|profile|' +
    'roles?|scopes?|sub|subject|teams|tenant|uuid))$',
)

/** Names without such words. */
const CLAIM_NAMES = words(
  // Connection and target.
  'cip disguised-host ns-client rlnclientipaddr x-client-city x-client-region x-forwardfor x-is-secure x-secure ' +
    // Paths of frameworks and gateways, and files that a proxy sends.
    'script-name x-accel-mapping x-accel-redirect x-matched-path x-ingress-path x-now-route-matches x-script-name ' +
    'x-sendfile-type x-server-name ' +
    // Signed-in user; the proxy of a CGI program.
    'proxy thanos-tenant x-act-as x-actor x-admin x-auth-name x-auth-uid x-caller x-caller-id x-internal ' +
    'x-internal-request x-login-name x-on-behalf-of x-proxycontextinfo x-requester x-scope-orgid x-staff x-trusted ' +
    'x-uid x-viewer ' +
    // Attributes of a directory, as Shibboleth and others pass them on.
    'assurance auth-uid departmentnumber displayname family-name familyname given-name givenname homeorganization ' +
    'mailprimaryaddress member name-id nickname o ou persistent-id sn uid uidnumber x-name-id',
)

/** Prefixes of products that write all headers of that name, and of those that sign visitors in. */
const CLAIM_PREFIXES = [
  'akamai-',
  'ali-',
  'cas-',
  'cdn-',
  'cert-',
  'cf-',
  'cloudfront-',
  'dapr-caller-',
  'fastly-',
  'fly-',
  'iv-',
  'l5d-',
  'mellon-',
  'oidc-',
  'osso-',
  'proxy-',
  'remote-',
  'shib-',
  'sm-',
  'tailscale-',
  'wl-',
  'x-akamai-',
  'x-amzn-',
  'x-appengine-',
  'x-appservice-',
  'x-arr-',
  'x-astro-',
  'x-auth-request-',
  'x-authenticated-',
  'x-authentik-',
  'x-azure-',
  'x-cert-',
  'x-certificate-',
  'x-consumer-',
  'x-credential-',
  'x-envoy-',
  'x-fd-',
  'x-gap-',
  'x-goog-authenticated-user-',
  'x-haproxy-',
  'x-invoke-',
  'x-istio-',
  'x-jwt-claim',
  'x-middleware-',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-nf-',
  'x-nginx-',
  'x-oidc-',
  'x-pomerium-',
  'x-proxy-',
  'x-real-',
  'x-remote-',
  'x-sandstorm-',
  'x-sucuri-',
  'x-vercel-forwarded-',
  'x-vercel-ip-',
  'x-vercel-proxied-',
  'x-waws-',
  'x-webauth-',
  'x-weblogic-',
  'ynh-',
] as const

/** Sent by browsers, and what proxies themselves need: to stop loops (RFC 8586), and to continue a trace. */
const STANDARD = /^(?:access-control-|sec-|cdn-loop$|x-amzn-trace-id$)/

/** A name with another character is a different header here, but the same one to CGI: `X_Real_IP`. */
const PLAIN = /^[a-z0-9-]+$/

/** Whether a visitor's header, in lower case, says what only a proxy may say. Takes time linear in the name's length. */
export function isProxyClaim(name: string): boolean {
  if (!PLAIN.test(name) || CLAIM_NAMES.has(name)) return true
  if (STANDARD.test(name)) return false
  if (CLAIM_PREFIXES.some((prefix) => name.startsWith(prefix))) return true
  const parts = name.split('-').filter((part) => part !== 'x' && part !== '')
  if (parts.some((part) => CLAIM_WORD.test(part)) || CLAIM_PART.test(name) || CLAIM_END.test(name)) return true
  const facts = parts.filter((part) => FACTS.has(part)).length
  // `X-Original-URL`, `X-HTTP-Method-Override`; `X-Url-Scheme`, which is nothing but facts.
  return facts > 0 && (facts === parts.length || parts.some((part) => SUBJECTS.has(part)))
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

import { describe, expect, it } from 'vitest'
import { isProxyClaim } from '../../../src/server/routes/proxy/proxy-claims.ts'

/** As products document them, some only in older versions. */
const CLAIMS = {
  Akamai: 'True-Client-IP Akamai-Origin-Hop X-Akamai-Edgescape X-Akamai-Config-Log-Detail',
  Cloudflare:
    'CF-Visitor CF-Connecting-IP CF-Connecting-IPv6 CF-Pseudo-IPv4 CF-IPCountry CF-Ray CF-Worker ' +
    'Cf-Access-Authenticated-User-Email Cf-Access-Jwt-Assertion Cf-Client-Cert-Verified',
  Fastly: 'Fastly-Client-IP Fastly-SSL Fastly-FF Fastly-Temp-XFF Fastly-Client',
  Fly: 'Fly-Client-IP Fly-Forwarded-Proto Fly-Forwarded-Port Fly-Forwarded-SSL Fly-Region',
  Azure:
    'X-Azure-ClientIP X-Azure-SocketIP X-Azure-FDID X-FD-HealthProbe X-ARR-SSL X-ARR-ClientCert X-Original-Host ' +
    'X-AppService-Proto X-WAWS-Unencoded-URL Disguised-Host X-MS-Client-Principal X-MS-Client-Principal-Name',
  AWS:
    'CloudFront-Viewer-Address CloudFront-Forwarded-Proto CloudFront-Viewer-TLS X-Amzn-Mtls-Clientcert ' +
    'X-Amzn-Mtls-Clientcert-Subject X-Amzn-OIDC-Identity X-Amzn-Lattice-Identity X-Amzn-Tls-Version X-Viewer-Address',
  Google:
    'X-AppEngine-User-IP X-AppEngine-Https X-AppEngine-Cron X-Client-Geo-IP X-Client-Cert-Serial-Number ' +
    'X-Client-Cert-Chain-Verified X-Goog-IAP-JWT-Assertion X-Goog-Authenticated-User-Email',
  Vercel: 'X-Vercel-Forwarded-For X-Vercel-Proxied-For X-Vercel-IP-Country X-Matched-Path X-Now-Route-Matches',
  Netlify: 'X-NF-Client-Connection-IP X-NF-Geo X-NF-Account-ID',
  'other networks':
    'DO-Connecting-IP Ali-CDN-Real-IP X-Client-Scheme Incap-Client-IP X-Sucuri-ClientIP CDN-RequestCountryCode ' +
    'X-Railway-IP X-BlueCoat-Via-IP WL-Client',
  nginx: 'X-Real-IP X-Real-Port X-Original-URI X-Original-Method X-Scheme X-Nginx-Proxy X-SSL-Cert SSL-Client-Verify',
  Envoy: 'X-Envoy-External-Address X-Envoy-Internal X-Envoy-Original-Path X-Envoy-Peer-Metadata L5d-Client-Id',
  Traefik: 'X-Replaced-Path X-Forwarded-Tls-Client-Cert X-Forwarded-Prefix X-Forwarded-Uri X-Forwarded-Method',
  HAProxy: 'X-SSL X-SSL-Client-DN X-SSL-Client-Verify X-Client-Verify X-Client-Cert X-HAProxy-Server-State',
  IIS: 'X-Original-URL X-Rewrite-URL X-UnEncoded-URL X-ARR-LOG-ID Front-End-HTTPS X-ProxyContextInfo',
  WebLogic: 'Proxy-Client-IP WL-Proxy-Client-IP WL-Proxy-SSL WL-Proxy-Client-Cert X-WebLogic-Force-JVMID',
  WebSphere: '$WSRA $WSSC $WSRU $WSIS',
  Passenger: '!~REMOTE_ADDR !~Passenger-Client-Address',
  gateways:
    'X-Consumer-Username X-Credential-Identifier X-Authenticated-Userid X-Userinfo X-Pomerium-Jwt-Assertion ' +
    'X-Authentik-Username Remote-User Remote-Groups X-Auth-Request-User X-WebAuth-User Tailscale-User-Login ' +
    'Client-Cert Client-Cert-Chain X-Cert-Subject OIDC-Claim-Sub X-User-DN X-Auth-User X-Auth-Username X-Auth-Email ' +
    'X-Auth-Groups X-Auth-Name X-User X-Username X-Email X-User-Email X-User-Name X-Groups X-Roles X-SSO-User X-SSO-Id ' +
    'X-Vouch-User X-Vouch-IdP-Claims-Email Impersonate-User Impersonate-Group Impersonate-Uid Impersonate-Extra-Scopes ' +
    'X-JWT-Assertion X-Apigateway-Api-Userinfo X-MS-Token-AAD-Id-Token X-MS-Token-AAD-Access-Token ' +
    'Teleport-Jwt-Assertion X-Anonymous-Consumer X-Login X-Login-Name X-Principal X-Authenticated-Groups X-Signed-In-User ' +
    'iv-user iv-groups iv-creds SM-User X-Rh-Identity X-GAP-Auth X-Scope-OrgID X-Current-User X-Token-User-Email ' +
    'X-Act-As X-On-Behalf-Of X-Authorities X-Istio-Attributes X-Caller-Id X-Is-Admin X-Internal-Request X-Scopes Uid ' +
    'X-Token-Subject X-Trino-User Mellon-Name-Id X-Kratos-Authenticated-Identity-Id X-User-Id X-UserId Eppn Saml-User Cas-User X-Keycloak-Username',
  Shibboleth:
    'Subject-Id Pairwise-Id Targeted-Id Eppn eduPersonPrincipalName norEduPersonNIN Affiliation Unscoped-Affiliation ' +
    'Primary-Affiliation eduPersonScopedAffiliation Entitlement isMemberOf Member Assurance Nickname givenName sn Mail Uid ' +
    'displayName employeeNumber schacHomeOrganization NameID Name-Id X-NameID o ou Org-DN Primary-OrgUnit-DN',
  'directories and what signs in':
    'memberOf sAMAccountName userPrincipalName onPremisesSamAccountName distinguishedName objectGUID objectSid employeeID ' +
    'preferredUsername Preferred-Username X-MS-UPN SMUSER Osso-Subscriber CAS-Mail OIDC-Id-Token-Payload Auth-Uid Auth-Mail ' +
    'THANOS-TENANT X-Viewer X-Actor X-Run-As X-Logged-In-As X-Requester X-Staff X-Is-Staff X-Hass-Is-Admin X-Admin X-Internal ' +
    'X-Trusted X-Logon X-Privileges X-AuthUser X-Replit-User-Teams X-User-Context X-Sandstorm-Preferred-Handle Ynh-User-Fullname',
  frameworks:
    'X-Middleware-Subrequest X-Middleware-Rewrite X-Invoke-Path X-Script-Name X-Ingress-Path X-Sendfile-Type ' +
    'X-Accel-Mapping X-Astro-Path Script-Name',
  'names of their own':
    'X-ProxyUser-Ip Client-IP ClientIP X-ClientIP X-RealIP X-Client-IP X-Remote-Addr X-RemoteAddr X-Remote-IP ' +
    'X-Cluster-Client-IP X-Originating-IP X-Custom-IP-Authorization X-Visitor-IP X-UserIP X-Peer-Address ' +
    'X-Forwarded X-Forward-For X-Forwarder-For Forwarded-For X-Original-Forwarded-For X-XFF X-Geoip-Country ' +
    'X-Host X-HTTP-Host-Override X-Host-Override X-Real-Host X-Backend-Host X-Server-Name X-Server-Port HTTP-Host ' +
    'X-Url-Scheme X-Proto X-Forwarded-Protocol X-Https X-TLS X-Connection-SSL X-Port X-URI X-URL X-Path Base-Url ' +
    'Request-Uri X-Request-Path X-Override-URL X-Raw-URL X-OriginalURL X-HTTP-Method X-HTTP-Method-Override ' +
    'X-Method-Override X-HTTP-Path-Override Proxy Proxy-Host X-Proxy-URL X.Real.IP X_Real_IP',
}

/** Of browsers, libraries, webhooks and tracing. */
const OWN =
  'Accept Accept-Language Access-Control-Request-Headers Access-Control-Request-Method Authorization Cache-Control ' +
  'Content-Type Cookie DNT Early-Data From If-None-Match Last-Event-ID Origin Priority Range Referer Save-Data ' +
  'Sec-CH-Prefers-Color-Scheme Sec-CH-UA-Platform Sec-Fetch-Site Sec-WebSocket-Key Sec-WebSocket-Protocol ' +
  'Service-Worker Upgrade-Insecure-Requests User-Agent Via Destination Depth Overwrite Prefer Idempotency-Key ' +
  'X-Requested-With X-CSRF-Token X-XSRF-Token X-Api-Key X-Auth-Token X-Access-Token X-User-Agent ' +
  'X-Client-Id X-Client-Info X-Client-Version X-Client-Data X-Request-Id X-Correlation-ID X-Tenant X-Tenant-Domain ' +
  'X-Zip X-Membership X-Account-Id X-Owner-Id X-Org X-Client X-Persona Title X-Id-Token X-JWT ' +
  'X-Color-Scheme X-Original-Filename X-Wallet-Address X-Shipping-Address X-Session-Id X-Country ' +
  'HX-Request HX-Current-URL HX-Target Next-Action RSC Turbo-Frame X-Inertia X-Inertia-Version X-Livewire ' +
  'MCP-Protocol-Version Mcp-Session-Id Connect-Protocol-Version Grpc-Timeout X-Grpc-Web GraphQL-Require-Preflight ' +
  'Tus-Resumable Upload-Offset Upload-Metadata OData-Version X-Parse-Application-Id Apollographql-Client-Name ' +
  'Stripe-Signature X-Hub-Signature-256 X-GitHub-Event X-GitHub-Enterprise-Host X-GitHub-Hook-ID X-Gitlab-Token ' +
  'X-Gitlab-Instance X-Slack-Request-Timestamp X-Slack-Signature X-Twilio-Signature Paypal-Cert-Url ' +
  'Paypal-Transmission-Id X-Shopify-Shop-Domain X-Goog-Channel-ID X-Goog-Resource-URI X-Goog-Api-Key ' +
  'X-Amz-Sns-Message-Type X-Amz-Date X-Amz-Content-Sha256 SignatureCertChainUrl X-Vercel-Signature ' +
  'X-Vercel-Protection-Bypass X-MS-Client-Request-Id X-Hook-UUID Svix-Id Webhook-Signature Ce-Source Ce-Subject ' +
  'Traceparent Tracestate Baggage B3 X-B3-TraceId Sentry-Trace X-Datadog-Origin X-Amzn-Trace-Id ' +
  'X-Cloud-Trace-Context CDN-Loop'

describe('a header of a visitor', () => {
  it.each(Object.entries(CLAIMS))('is a claim if only a proxy may set it: %s', (_, names) => {
    expect(lowered(names).filter((name) => !isProxyClaim(name))).toEqual([])
  })

  it('is the visitor’s own otherwise', () => {
    expect(lowered(OWN).filter(isProxyClaim)).toEqual([])
  })
})

function lowered(names: string): readonly string[] {
  return names.toLowerCase().split(' ')
}

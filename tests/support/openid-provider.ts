import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'

/** What a provider says of somebody. */
interface ProviderUser {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
}

/** An OpenID provider of a test's own, on the loopback: whoever comes is `user`. */
export interface OpenidProvider extends AsyncDisposable {
  readonly issuer: string
  /** Who signs in next. */
  user: ProviderUser
  /** What the UserInfo endpoint says of everybody; without it, there is none. Set it before the provider is asked for anything. */
  userinfo: ProviderUser | undefined
  /** Codes that were exchanged for tokens. */
  readonly exchanged: readonly string[]
  /** Says something else of a user than what is true. */
  forge: ((claims: JWTPayload) => JWTPayload | string) | undefined
  /** Answers a request in another way; without an answer, nothing is ever said. */
  misbehave: ((pathname: string, res: ServerResponse) => boolean) | undefined
}

interface Grant {
  readonly challenge: string
  readonly user: ProviderUser
  readonly clientId: string
  readonly redirectUri: string
}

/** Speaks the authorization code flow with PKCE (S256) as far as a client can tell. */
export async function startOpenid(): Promise<OpenidProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'RS256', use: 'sig' }
  const grants = new Map<string, Grant>()
  const exchanged: string[] = []
  const provider: Pick<OpenidProvider, 'user' | 'userinfo' | 'forge' | 'misbehave'> = {
    user: { sub: 'nobody' },
    userinfo: undefined,
    forge: undefined,
    misbehave: undefined,
  }

  async function exchange(req: IncomingMessage): Promise<object | undefined> {
    let body = ''
    for await (const part of req) body += String(part)
    const form = new URLSearchParams(body)
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant === undefined || grant.challenge !== challenge) return undefined
    if (form.get('redirect_uri') !== grant.redirectUri) return undefined
    exchanged.push(code)
    const iat = Math.floor(Date.now() / 1_000)
    const honest: JWTPayload = { ...grant.user, iss: issuer, aud: grant.clientId, iat, exp: iat + 300 }
    const said = provider.forge?.(honest) ?? honest
    const idToken =
      typeof said === 'string'
        ? said
        : await new SignJWT(said).setProtectedHeader({ alg: 'RS256', kid: 'test' }).sign(privateKey)
    return { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: idToken }
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', issuer)
    if (provider.misbehave?.(pathname, res)) return
    const json = (value: object, status = 200): unknown =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
    if (pathname === '/.well-known/openid-configuration') {
      return void json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...(provider.userinfo === undefined ? {} : { userinfo_endpoint: `${issuer}/userinfo` }),
      })
    }
    if (pathname === '/userinfo') return void json(provider.userinfo ?? {})
    if (pathname === '/keys') return void json({ keys: [jwk] })
    if (pathname === '/token') {
      const tokens = await exchange(req)
      return void json(tokens ?? { error: 'invalid_grant' }, tokens === undefined ? 400 : 200)
    }
    const code = randomUUID()
    const challenge = searchParams.get('code_challenge') ?? ''
    const clientId = searchParams.get('client_id') ?? ''
    const redirectUri = searchParams.get('redirect_uri') ?? ''
    grants.set(code, { challenge, user: provider.user, clientId, redirectUri })
    const back = new URL(redirectUri)
    back.search = String(new URLSearchParams({ code, state: searchParams.get('state') ?? '' }))
    res.writeHead(303, { Location: back.href }).end()
  }

  const server = createServer((req, res) => void answer(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(provider, {
    issuer,
    exchanged,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

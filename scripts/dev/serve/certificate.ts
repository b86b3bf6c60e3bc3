import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtempDisposable, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { promisify } from 'node:util'
import { BuildFault } from '../../build/build-fault.ts'
import { contentHash } from '../../build/content-hash.ts'

/** What the development server shows browsers for https. Both are PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  /** The file of a certificate that browsers warn about; absent for any other. */
  readonly selfSigned?: string
}

const DAYS = 365 // Apple's browsers refuse more than 398
const RENEW_MS = 30 * 86_400_000 // before it ends

/**
 * Reads a certificate and its key.
 * @throws {BuildFault} for a file that cannot be read, or a key of another certificate.
 */
export async function readCertificate(certFile: string, keyFile: string): Promise<Certificate> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new BuildFault(`The certificate ${certFile} with the key ${keyFile} cannot be used: ${reason}`)
  }
}

/**
 * A certificate for names of this machine, made once by mkcert or else by openssl, and made again before it ends.
 * @param folder of the user, for certificates and their keys.
 * @param names host names and addresses.
 * @throws {BuildFault} if this machine has neither program, or it fails.
 */
export async function ownCertificate(
  folder: string,
  names: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Certificate> {
  const own = join(folder, contentHash(...names).slice(0, 12))
  const cached = await cachedCertificate(own)
  if (cached !== undefined) return cached
  await mkdir(own, { recursive: true, mode: 0o700 })
  await using made = await mkdtempDisposable(join(own, 'new-'))
  const files = { cert: join(made.path, 'cert.pem'), key: join(made.path, 'key.pem') }
  if (!(await makeByMkcert(files, names, env)) && !(await makeByOpenssl(made.path, files, names, env))) {
    throw new BuildFault(
      'https needs a certificate, and neither mkcert nor openssl is installed to make one. Install mkcert, or name one with --cert <file> --key <file>.',
    )
  }
  await chmod(files.key, 0o600)
  await rename(files.key, join(own, 'key.pem'))
  await rename(files.cert, join(own, 'cert.pem'))
  return (await cachedCertificate(own)) ?? readCertificate(join(own, 'cert.pem'), join(own, 'key.pem'))
}

async function cachedCertificate(folder: string): Promise<Certificate | undefined> {
  const file = join(folder, 'cert.pem')
  const cached = await readCertificate(file, join(folder, 'key.pem')).catch(() => undefined)
  if (cached === undefined) return undefined
  const { validTo, subject, issuer } = new X509Certificate(cached.cert)
  if (Date.parse(validTo) - Date.now() < RENEW_MS) return undefined
  return subject === issuer ? { ...cached, selfSigned: file } : cached
}

interface Files {
  readonly cert: string
  readonly key: string
}

/** Signed by an authority that mkcert has made, and that browsers trust after `mkcert -install`. */
function makeByMkcert({ cert, key }: Files, names: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return runs('mkcert', ['-cert-file', cert, '-key-file', key, ...names], env)
}

/** Signed by itself, and good for nothing but these names: an authority's key that leaks could sign for any site. */
async function makeByOpenssl(folder: string, { cert, key }: Files, names: readonly string[], env: NodeJS.ProcessEnv) {
  const config = join(folder, 'request.cnf')
  const subjects = names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`).join(',')
  await writeFile(
    config,
    `[req]\nprompt = no\ndistinguished_name = name\nx509_extensions = uses\n[name]\nCN = millrace dev\n[uses]\n` +
      `basicConstraints = critical, CA:FALSE\nextendedKeyUsage = serverAuth\nsubjectAltName = ${subjects}\n`,
  )
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-sha256', '-days', String(DAYS)]
  return runs('openssl', ['req', ...kind, '-config', config, '-keyout', key, '-out', cert], env)
}

/** @returns false if the program is not installed. */
async function runs(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await promisify(execFile)(program, [...args], { env })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    throw new BuildFault(`${program} made no certificate: ${said.split('\n').at(-1) ?? ''}`)
  }
}

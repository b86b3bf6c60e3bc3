import { X509Certificate } from 'node:crypto'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ownCertificate, type Certificate } from '../../../scripts/dev/serve/certificate.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

/** Signs a certificate by an authority of its own, as mkcert does, and notes its arguments. */
const MKCERT = `#!/bin/sh
set -e
cd "$(dirname "$0")"
printf '%s\\n' "$@" > arguments
new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
openssl req -x509 $new -subj '/CN=the authority' -days 300 -keyout ca-key.pem -out ca.pem
openssl req $new -subj '/O=mkcert development certificate' -keyout "$4" -out request.pem
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -days 300 -out "$2"
cp "$2" made.pem
`

let temp: TempDir

beforeEach(async () => {
  temp = await makeTempDir('mkcert')
})

afterEach(() => temp.remove())

/** Asks for a certificate on a machine with this mkcert. */
async function ask(mkcert: string, names: readonly string[]): Promise<Certificate> {
  const program = join(temp.path, 'mkcert')
  await writeFile(program, mkcert)
  await chmod(program, 0o755)
  const env = { ...process.env, PATH: [temp.path, process.env['PATH']].join(delimiter) }
  return ownCertificate(join(temp.path, 'certificates'), names, env)
}

test('mkcert is asked for the names, and its certificate is used and kept, without a warning of browsers', async () => {
  const made = await ask(MKCERT, ['localhost', '127.0.0.1', '::1', 'mill.test'])
  const given = (await readFile(join(temp.path, 'arguments'), 'utf8')).trimEnd().split('\n')
  expect(given).toEqual([
    '-cert-file',
    expect.stringMatching(/cert\.pem$/),
    '-key-file',
    expect.stringMatching(/key\.pem$/),
    'localhost',
    '127.0.0.1',
    '::1',
    'mill.test',
  ])
  expect(made.cert).toBe(await readFile(join(temp.path, 'made.pem'), 'utf8'))
  expect(new X509Certificate(made.cert).issuer).toBe('CN=the authority')
  expect(made.selfSigned).toBeUndefined()

  const [folder = ''] = await readdir(join(temp.path, 'certificates'))
  const kept = join(temp.path, 'certificates', folder)
  expect((await readdir(kept)).toSorted()).toEqual(['cert.pem', 'key.pem'])
  expect((await stat(join(kept, 'key.pem'))).mode & 0o077).toBe(0)
  const broken = '#!/bin/sh\nexit 1\n'
  expect(await ask(broken, ['localhost', '127.0.0.1', '::1', 'mill.test'])).toEqual(made)
})

test('what mkcert says when it fails is told, and openssl is not tried behind its back', async () => {
  const failing = `#!/bin/sh\necho 'Created a new local CA' >&2\necho 'ERROR: no permission' >&2\nexit 1\n`
  await expect(ask(failing, ['localhost'])).rejects.toThrow('mkcert made no certificate: ERROR: no permission')
})

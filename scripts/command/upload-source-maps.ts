import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { debugIdOf } from '../../src/shared/reports/debug-id.ts'
import type { AssetManifest } from '../../src/server/assets/manifest.ts'
import { BuildFault } from '../build/build-fault.ts'
import { PUBLIC_PATH } from '../build/build-options.ts'
import { OUT_ARGUMENT, readBuildArguments } from '../build/project/locate-application.ts'
import { namedScript } from '../build/output/debug-ids.ts'
import { readArguments } from '../build/project/read-arguments.ts'

const SERVICE = 'https://sentry.io'

/**
 * `millrace upload-source-maps [--out <build>] [--write <folder>]`: uploads the source maps of a build to the error service,
 * so that it shows the sources in browsers' stacks. The service's own command does the upload, with its settings from the
 * environment: SENTRY_AUTH_TOKEN, SENTRY_ORG, SENTRY_PROJECT, and SENTRY_URL for a self-hosted service. `--write` uploads
 * nothing: it writes scripts and maps to a folder, with the comments that other tools read.
 * @throws {BuildFault} if the upload cannot start, or has failed.
 */
export async function uploadSourceMaps(args: readonly string[]): Promise<void> {
  const { out, write } = readArguments(args, { ...OUT_ARGUMENT, write: { value: '<folder>' } })
  const build = out === undefined ? (await readBuildArguments([])).out : resolve(out)
  const manifest = await readManifest(build)
  if (write === undefined) await upload(build, manifest)
  else console.log(`${write} has ${await writeTo(resolve(write), build)} scripts and their maps.`)
}

async function upload(out: string, { buildId, basePath = '' }: AssetManifest): Promise<void> {
  const { SENTRY_URL: url = SERVICE, SENTRY_RELEASE: release = buildId } = process.env
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new BuildFault(`SENTRY_URL is not a URL of a service: '${url}'. For example ${SERVICE}`)
  }
  required('SENTRY_ORG', 'the slug of your organization, like mills')
  required('SENTRY_PROJECT', 'the slug of your project, like website')
  required('SENTRY_AUTH_TOKEN', 'a token of the service that may write releases')
  const { SentryCli } = await import('@sentry/cli')
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-maps-'))
  const count = await writeTo(folder.path, out)
  const options = ['--release', release, '--url-prefix', `~${basePath}${PUBLIC_PATH}`, '--wait', '--strict']
  const { status, error } = spawnSync(SentryCli.getPath(), ['sourcemaps', 'upload', ...options, folder.path], {
    stdio: 'inherit',
    // Otherwise it would read a `.env` file, and check for newer versions of itself.
    env: { ...process.env, SENTRY_URL: url, SENTRY_LOAD_DOTENV: '0', SENTRY_DISABLE_UPDATE_CHECK: '1' },
  })
  if (status !== 0) throw new BuildFault(`sentry-cli failed to upload the maps${error ? `: ${error.message}` : '.'}`)
  console.log(`${url} has the maps of ${count} scripts, of build ${buildId}.`)
}

/**
 * Copies the browser's scripts and their maps, with the comments that link them. The server's are left out: Node itself
 * resolves its stacks.
 * @returns the number of scripts.
 */
async function writeTo(folder: string, out: string): Promise<number> {
  const maps = (await readdir(join(out, 'maps'))).filter((name) => name.endsWith('.js.map'))
  await mkdir(folder, { recursive: true })
  for (const map of maps) {
    const name = map.replace(/\.map$/, '')
    const script = namedScript(await readFile(join(out, 'public', name)), debugIdOf(name))
    await writeFile(join(folder, name), [script, `//# sourceMappingURL=${map}\n`])
    await copyFile(join(out, 'maps', map), join(folder, map))
  }
  return maps.length
}

async function readManifest(out: string): Promise<AssetManifest> {
  const text = await readFile(join(out, 'manifest.json'), 'utf8').catch(() => undefined)
  if (text === undefined) throw new BuildFault(`${out} holds no build: run npm run build.`)
  return JSON.parse(text) as AssetManifest
}

function required(name: string, what: string): void {
  const value = process.env[name]
  if (value === undefined || value === '') throw new BuildFault(`${name} is not set: it is ${what}.`)
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { programPath } from './programs.ts'
import { makeTempDir } from './temp-dir.ts'

const CONFIGURATION = resolve(import.meta.dirname, '../../deploy/nginx.conf')
const START_LIMIT_MS = 10_000 // a start that takes longer hangs
const POLL_MS = 10 // another process can only be asked

const PREFACE = 'daemon off; worker_processes 1; pid /tmp/nginx.pid; events {}\n'
const HTTP =
  'access_log off; client_body_temp_path /tmp/body; proxy_temp_path /tmp/proxy; fastcgi_temp_path /tmp/fastcgi; ' +
  'uwsgi_temp_path /tmp/uwsgi; scgi_temp_path /tmp/scgi; default_type application/octet-stream; ' +
  'types { text/html html; text/css css; text/javascript js; image/svg+xml svg; application/json json; text/plain txt; }'

/** nginx in front of instances on this machine. */
export interface RunningNginx extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  /** What it has complained about so far. */
  errors(): string
}

/**
 * Starts nginx with `deploy/nginx.conf`, in which nothing is changed but addresses and folders.
 * @param port where it listens on the loopback.
 * @param upstreams ports of the instances, as many as the file names.
 * @param changes what else is replaced in the file, and by what.
 * @throws {Error} with nginx's own words when it does not start, or where the file no longer has what is changed.
 */
export async function startNginx(
  port: number,
  upstreams: readonly number[],
  changes: Readonly<Record<string, string>> = {},
): Promise<RunningNginx> {
  let text = await readFile(CONFIGURATION, 'utf8')
  const replace = (from: string, to: string): void => {
    if (!text.includes(from)) throw new Error(`deploy/nginx.conf has no ${from}`)
    text = text.replaceAll(from, to)
  }
  for (const [from, to] of Object.entries(changes)) replace(from, to)
  replace('listen 8080;', `listen 127.0.0.1:${port};`)
  replace('worker_processes auto;', 'worker_processes 1;\ndaemon off;')
  for (const [index, upstream] of upstreams.entries())
    replace(`server millrace-${index + 1}:3000`, `server 127.0.0.1:${upstream}`)
  return launch(port, text, {})
}

/**
 * Starts nginx with servers of the test's own.
 * @param port where one of them listens on the loopback.
 * @param servers content of the block `http`.
 * @param folders by what names them in the text.
 * @throws {Error} with nginx's own words when it does not start.
 */
export function runNginx(
  port: number,
  servers: string,
  folders: Readonly<Record<string, string>> = {},
): Promise<RunningNginx> {
  return launch(port, PREFACE + `http { ${HTTP}\n${servers}\n}`, folders)
}

/** `/tmp/` in the text becomes a folder that goes with the test. */
async function launch(port: number, text: string, folders: Readonly<Record<string, string>>): Promise<RunningNginx> {
  const folder = await makeTempDir('nginx')
  await chmod(folder.path, 0o755) // its workers are another user where this one is root
  const file = join(folder.path, 'nginx.conf')
  let own = text.replaceAll('/tmp/', `${folder.path}/`)
  for (const [name, path] of Object.entries(folders)) own = own.replaceAll(name, path)
  await writeFile(file, own)

  const child = spawn(programPath('nginx'), ['-e', 'stderr', '-p', folder.path, '-c', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part))
  const exited = once(child, 'close')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
    await folder.remove()
  }
  const deadline = AbortSignal.timeout(START_LIMIT_MS)
  while (!(await accepts(port))) {
    if (deadline.aborted || child.exitCode !== null) {
      await stop()
      throw new Error(`nginx did not start.\n${errors}`)
    }
    await delay(POLL_MS)
  }
  return { origin: `http://127.0.0.1:${port}`, errors: () => errors, [Symbol.asyncDispose]: stop }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

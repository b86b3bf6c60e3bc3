import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { collectOutput } from './collect-output.ts'
import type { BuiltImage, Engine } from './engine.ts'
import { runImage } from './run-image.ts'
import { createCheckList, type CheckList } from './check-list.ts'

const LISTENING = /listening on http:\/\/localhost:(\d+)/

/** What the check works with. */
interface NewApplicationRequest {
  /** Absolute path of this project, with its packages installed. */
  readonly context: string
  /** Absolute path of a folder to create. */
  readonly work: string
  /** Tag of the base image. */
  readonly base: string
}

/**
 * Makes an application with `millrace new` from the packed archive, builds its own Dockerfile and tries the container as a
 * visitor and an engine would. Prints the results.
 * @returns titles of failed checks.
 * @throws {ProgramError} if the application or its image cannot be made.
 */
export async function checkNewApplication(
  engine: Engine,
  { context, work, base }: NewApplicationRequest,
): Promise<readonly string[]> {
  console.log('\nA new application, by its own Dockerfile')
  mkdirSync(work, { recursive: true })
  const app = join(work, 'mill-shop')
  const node = (...args: readonly string[]): Promise<string> => collectOutput(process.execPath, args, { cwd: work })
  const packed = await node(join(context, 'scripts/package.ts'), '--to', work)
  const archive = packed.split('\n').at(-1) ?? ''
  await node(join(context, 'bin/millrace.js'), 'new', app, '--tailwind', '--package', archive, '--no-install')
  addFiles(app)
  await collectOutput('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: app })
  const dockerfile = join(app, 'Dockerfile')
  const official = /^FROM (\S+)/m.exec(readFileSync(dockerfile, 'utf8'))?.[1] ?? ''
  await engine.name(base, `docker.io/library/${official}`)
  const image = await engine.build({ context: app, dockerfile, tag: 'localhost/mill-shop' })

  const { check, faults } = createCheckList()
  check('its user has a number, which Kubernetes needs', /^[1-9]\d*:\d+$/.test(image.config.user), image.config.user)
  checkFiles({ check }, image)
  const data = join(work, 'data')
  mkdirSync(data, { recursive: true })
  const server = runImage(image, { volume: data, env: { PORT: '0', LOG_LEVEL: 'warn' } })
  try {
    const port = (await server.line(LISTENING))[1] ?? ''
    await checkPages({ check }, `http://127.0.0.1:${port}`)
    server.signal('SIGTERM')
    check('SIGTERM ends it with code 0', (await server.exited) === 0)
  } finally {
    if ((await Promise.race([server.exited, 'running' as const])) === 'running') server.signal('SIGKILL')
    await server.exited
  }
  return faults
}

/** By path in the application's folder: files that are not of the template. */
const CONFIG = 'millrace.config.ts'
const ROBOTS = 'public/robots.txt'
const SECRETS = ['.env.local', '.npmrc', 'certificates/site.key', 'data/visitors.db'] as const

const LOADER = `import { readFile } from 'node:fs/promises'

export async function loader() {
  const name = await readFile(new URL('./name.txt', import.meta.url), 'utf8')
  return { mill: { id: '1', name, wheels: 2 }, others: [] as { id: string; name: string }[] }
}
`

/** The layout's stylesheet is found by the config alone, and a loader reads a file of its own. */
function addFiles(app: string): void {
  const layout = join(app, 'src/app/layout.tsx')
  writeFileSync(layout, readFileSync(layout, 'utf8').replace("'./styles.css'", "'@app/styles.css'"))
  writeFileSync(join(app, CONFIG), `export default { alias: { '@app': './src/app' } }\n`)
  writeFileSync(join(app, 'src/app/mills/loader.server.ts'), LOADER)
  writeFileSync(join(app, 'src/app/mills/name.txt'), 'Written mill')
  for (const file of [ROBOTS, ...SECRETS]) {
    mkdirSync(dirname(join(app, file)), { recursive: true })
    writeFileSync(join(app, file), '# of no interest\n')
  }
}

function checkFiles({ check }: Pick<CheckList, 'check'>, { root, config: { workdir } }: BuiltImage): void {
  const isThere = (file: string): boolean => existsSync(join(root, workdir, file))
  check('its public files are there', isThere(ROBOTS))
  const found = [CONFIG, 'src', 'node_modules/tailwindcss', ...SECRETS].filter(isThere)
  check('neither sources, tools nor secrets are', found.length === 0, found.join(', '))
}

async function checkPages({ check }: Pick<CheckList, 'check'>, origin: string): Promise<void> {
  check('/healthz says yes', (await fetch(`${origin}/healthz`)).status === 200)
  const html = await (await fetch(`${origin}/`)).text()
  check('the first page has its name', html.includes('<h1>mill-shop</h1>'))
  const style = /href="(\/_m\/assets\/[^"]+\.css)"/.exec(html)?.[1] ?? '/none'
  const css = await fetch(origin + style)
  check('its styles are there', css.status === 200 && (await css.text()).includes('max-width:var(--container-2xl)'))
  const mill = await (await fetch(`${origin}/mills/1`)).text()
  check('a loader reads its own file', mill.includes('<h1>Written mill</h1>'))
  const page = await (await fetch(`${origin}/guestbook`)).text()
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const body = new URLSearchParams(
    [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  )
  body.set('name', 'Ada')
  const sent = await fetch(new URL(action, `${origin}/guestbook`), {
    method: 'POST',
    body,
    headers: { Origin: origin },
  })
  check('its form stores what is sent', (await sent.text()).includes('<li>Ada</li>'), String(sent.status))
}

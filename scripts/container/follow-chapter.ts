import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runCommand } from '../checks/run-command.ts'
import { createVerdicts } from './verdict.ts'

const SECTION = 'A folder with Node'
const SERVES = /\bnpm run serve\b/
const READY = /listening on http:\/\/localhost:\d+/
const PORT_OF_CHAPTER = '3000'

/**
 * The commands of one section of a handbook's chapter.
 * @param title of a `##` heading.
 * @throws {Error} if there is no such section, or no `bash` block in it.
 */
export function commandsOf(chapter: string, title: string): readonly string[] {
  const section = chapter.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  const blocks = [...(section ?? '').matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => (block ?? '').trim())
  if (blocks.length === 0) throw new Error(`the chapter has no commands under "${title}"`)
  return blocks
}

/**
 * Follows the first section of docs/deployment.md word for word, except for the port, in a folder that contains only
 * the sources; prints the results.
 * @param context absolute path of the sources.
 * @param work absolute path of an empty folder.
 * @returns the commands that failed.
 */
export async function followChapter(context: string, work: string): Promise<readonly string[]> {
  const { check, faults } = createVerdicts()
  const folder = join(work, 'chapter')
  copySources(context, folder)
  const port = await freePort()
  const blocks = commandsOf(readFileSync(join(context, 'docs/deployment.md'), 'utf8'), SECTION)
  let server: Awaited<ReturnType<typeof serve>> | undefined
  try {
    for (const block of blocks) {
      if (SERVES.test(block)) {
        server = await serve(block, folder, port)
        check(block, server.ready)
        continue
      }
      const text = block.replaceAll(`localhost:${PORT_OF_CHAPTER}`, `localhost:${port}`)
      const { code, output } = await runCommand('bash', ['-euo', 'pipefail', '-c', text], {
        cwd: folder,
        env: { NODE_ENV: '' },
        output: 'collect',
      })
      check(block.replaceAll('\n', '; '), code === 0, code === 0 ? '' : output)
    }
  } finally {
    if (server !== undefined) check('SIGTERM ends it with code 0', (await server.stop()) === 0)
  }
  return faults
}

function copySources(context: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'tsconfig.json',
    'tsconfig.base.json',
    'src',
    'scripts',
    'docs',
  ]) {
    cpSync(join(context, name), join(folder, name), { recursive: true })
  }
}

/** Runs a block that does not end by itself. */
async function serve(block: string, cwd: string, port: number) {
  const child = spawn('bash', ['-c', `exec env ${block}`], {
    cwd,
    env: { ...process.env, PORT: String(port), DATA_DIR: join(cwd, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const ready = await Promise.race([
    new Promise<true>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (READY.test(line)) resolve(true)
      })
    }),
    exited.then(() => false as const),
  ])
  return {
    ready,
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

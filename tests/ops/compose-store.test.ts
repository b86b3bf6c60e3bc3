import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-ports.ts'
import { findProgram, programPath } from '../support/programs.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { readYaml, type YamlMap } from '../unit/deploy/yaml.ts'

const PASSWORD = '0123456789abcdef0123456789abcdef'
const START_LIMIT_MS = 10_000 // a start that takes longer hangs

// Without Redis there is no store to start; `scripts/test.ts` says so in one line.
test.skipIf(findProgram('redis-server') === undefined)(
  'the store of compose.yaml asks for its password, and does not show it to other users of the machine',
  async () => {
    const folder = await makeTempDir('store')
    onTestFinished(() => folder.remove())
    await mkdir(join(folder.path, 'bin'))
    await symlink(programPath('redis-server'), join(folder.path, 'bin/valkey-server'))
    const port = await freePort()
    const store = spawn(...launch(folder.path, port), {
      cwd: folder.path,
      env: { PATH: `${folder.path}/bin:${process.env['PATH'] ?? ''}`, VALKEY_PASSWORD: PASSWORD },
      stdio: 'ignore',
    })
    onTestFinished(async () => {
      store.kill('SIGKILL')
      await once(store, 'close')
    })
    const deadline = performance.now() + START_LIMIT_MS
    while ((await say(port, 'PING')) === undefined && performance.now() < deadline) await delay(20)

    expect(await say(port, 'PING')).toMatch(/^-NOAUTH/)
    expect(await say(port, 'AUTH wrong')).toMatch(/^-WRONGPASS/)
    expect(await say(port, `AUTH ${PASSWORD}`, 'CONFIG GET maxmemory-policy')).toContain('volatile-lru')
    // The shell has become the server: signals reach it, and nothing else has the password among its arguments.
    const shown = readFileSync(`/proc/${store.pid}/cmdline`, 'utf8')
    expect(shown).toContain('valkey-server')
    expect(shown).not.toContain(PASSWORD)
  },
)

/** What an engine starts for the service, with another folder in the place of `/tmp`. */
function launch(folder: string, port: number): [command: string, args: string[]] {
  const compose = readYaml(readFileSync(resolve(import.meta.dirname, '../../compose.yaml'), 'utf8')) as YamlMap
  const services = compose['services'] as YamlMap
  const { entrypoint, command } = services['valkey'] as YamlMap
  const [program = '', ...args] = [...(entrypoint as string[]), ...(command as string[])].map((text) =>
    text.replaceAll('$$', '$').replaceAll('/tmp/', `${folder}/`),
  )
  return [program, [...args, '--port', String(port), '--bind', '127.0.0.1']]
}

/** All that the store answers to these commands; `undefined` while it does not listen. */
async function say(port: number, ...commands: readonly string[]): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
  } catch {
    return undefined
  }
  socket.end([...commands, 'QUIT'].map((command) => `${command}\r\n`).join(''))
  let said = ''
  for await (const part of socket) said += String(part)
  return said
}

import { mkdirSync, readdirSync } from 'node:fs'
import { limitMemory, type MemoryGroup } from './memory-limit.ts'
import { runImage, type RunningImage } from './run-image.ts'
import type { BuiltImage } from './engine.ts'
import { createCheckList, type CheckList } from './check-list.ts'

const LISTENING = /listening on http:\/\/localhost:(\d+)/
const MEMORY_BYTES = 512 * 1024 * 1024 // as in compose.yaml and deploy/kubernetes/deployment.yaml

/** Run inside the image: what may this user do there? */
const PROBE = `
const fs = require('node:fs'), os = require('node:os'), dns = require('node:dns')
const tries = (work) => { try { work(); return 'could' } catch (error) { return error.code } }
const status = fs.readFileSync('/proc/self/status', 'utf8')
dns.lookup('localhost', (error) => console.log(JSON.stringify({
  uid: process.getuid(),
  root: tries(() => fs.writeFileSync('/written', '')),
  app: tries(() => fs.writeFileSync('/app/dist/written', '')),
  data: tries(() => fs.writeFileSync('/data/written', '')),
  temporary: tries(() => fs.writeFileSync('/tmp/written', '')),
  capabilities: /CapEff:\\s*(\\w+)/.exec(status)[1],
  noNewPrivileges: /NoNewPrivs:\\s*(\\d)/.exec(status)[1],
  home: os.userInfo().username,
  memory: process.constrainedMemory(),
  dns: error === null ? 'resolves' : error.code,
})))
`

/**
 * Runs an image, tries what a visitor, an engine and an attacker would try, and prints the results.
 * @param data absolute path of the folder for its volume, to create.
 * @returns titles of failed checks.
 */
export async function checkRunning(image: BuiltImage, data: string): Promise<readonly string[]> {
  const { check, faults } = createCheckList()
  console.log('\nRunning, as an engine would')
  mkdirSync(data, { recursive: true })
  const limited = limitMemory(`millrace-${process.pid}`, MEMORY_BYTES)
  const memory = typeof limited === 'string' ? undefined : limited
  if (typeof limited === 'string') console.log(`     without a memory limit: ${limited}`)
  try {
    await asAnotherUser()
    await refusesWrongConfiguration()
    await serves(memory)
  } finally {
    memory?.close()
  }
  return faults

  async function serves(group: MemoryGroup | undefined): Promise<void> {
    const server = runImage(image, { volume: data, env: { PORT: '0', LOG_LEVEL: 'warn' }, memory: group })
    try {
      const port = (await server.line(LISTENING))[1] ?? ''
      await checkAnswers({ check }, `http://127.0.0.1:${port}`, data)
      await healthCheck(port, 0)
      const peak = group?.peak()
      if (peak !== undefined) check('it stays within its memory limit', peak < MEMORY_BYTES, megabytes(peak))
      await stops(server)
      await healthCheck(port, 1)
    } finally {
      await ends(server)
    }
  }

  async function asAnotherUser(): Promise<void> {
    const node = image.config.command[0] ?? ''
    const probe = runImage(image, { volume: data, command: [node, '-e', PROBE], memory })
    const seen = JSON.parse((await probe.line(/^\{.*\}$/))[0]) as Record<string, unknown>
    await probe.exited
    if (memory !== undefined) {
      check('Node knows its memory limit', seen['memory'] === MEMORY_BYTES, megabytes(Number(seen['memory'])))
    }
    check(
      'the user has the number of the Dockerfile',
      `${String(seen['uid'])}:` === image.config.user.split(':')[0] + ':',
    )
    check('the root is read-only', seen['root'] === 'EROFS' && seen['app'] === 'EROFS', String(seen['app']))
    check('/data and /tmp are writable', seen['data'] === 'could' && seen['temporary'] === 'could')
    check(
      'no capabilities, and no way to get any',
      /^0+$/.test(String(seen['capabilities'])) && seen['noNewPrivileges'] === '1',
    )
    check('host names resolve', seen['dns'] === 'resolves' && seen['home'] === 'node', String(seen['dns']))
  }

  async function refusesWrongConfiguration(): Promise<void> {
    const wrong = runImage(image, { volume: data, env: { PORT: 'none' } })
    const code = await wrong.exited
    check('a wrong setting ends the start with code 1 and its name', code === 1 && wrong.output().startsWith('PORT: '))
  }

  async function healthCheck(port: string, expected: number): Promise<void> {
    const asked = runImage(image, { volume: data, env: { PORT: port }, command: image.config.healthCheck.slice(1) })
    const code = await asked.exited
    check(
      `the health check ends with ${expected} ${expected === 0 ? 'while it lives' : 'afterwards'}`,
      code === expected,
    )
  }

  async function stops(running: RunningImage): Promise<void> {
    const before = performance.now()
    running.signal('SIGTERM')
    const code = await running.exited
    check('SIGTERM to process 1 ends it with code 0', code === 0, `${Math.round(performance.now() - before)} ms`)
  }
}

/** Sends visitors' requests; `data` is the folder of its volume. */
async function checkAnswers({ check }: Pick<CheckList, 'check'>, origin: string, data: string): Promise<void> {
  check('/readyz says yes', (await fetch(`${origin}/readyz`)).status === 200)
  const home = await fetch(`${origin}/`)
  const html = await home.text()
  check('the first page answers', home.status === 200 && html.includes('</html>'), `${html.length} characters`)
  const scripts = [...html.matchAll(/\/_m\/assets\/[\w.-]+\.(?:js|css)/g)].map(([path]) => path)
  const statuses = await Promise.all(scripts.map(async (path) => (await fetch(`${origin}${path}`)).status))
  check('so do its files', statuses.length > 0 && statuses.every((status) => status === 200), `${statuses.length}`)
  const chapter = await fetch(`${origin}/docs/deployment`)
  check('so does the handbook', chapter.status === 200 && (await chapter.text()).includes('Deployment'))
  check('and its reference', (await fetch(`${origin}/docs/reference/server`)).status === 200)
  check('a page that stores opens its database', (await fetch(`${origin}/lab/guestbook`)).status === 200)
  check(
    'it is in /data',
    readdirSync(data).some((name) => name.endsWith('.sqlite')),
    readdirSync(data).join(', '),
  )
  check('a failing page has a digest', (await fetch(`${origin}/lab/crash/render`)).status === 500)
  const types = await Promise.all(
    ['/_m/build.json', '/lab/feed.json'].map(async (path) => (await fetch(`${origin}${path}`)).status),
  )
  check(
    'resource routes answer',
    types.every((status) => status === 200),
  )
}

/** Ends a container, whatever the results. */
async function ends(running: RunningImage): Promise<void> {
  if ((await Promise.race([running.exited, 'running' as const])) === 'running') running.signal('SIGKILL')
  await running.exited
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}

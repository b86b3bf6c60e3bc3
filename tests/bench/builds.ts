/** Time of builds and of the first start of `dev`, on applications of the package that is made now. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runCommand } from '../../scripts/checks/run-command.ts'
import { PROJECT } from './bundle.ts'
import type { Measurement } from './measurement.ts'
import { addLibraries, LIBRARY_COUNT } from './product.ts'
import { median } from './statistics.ts'

// Of esbuild alone. Where it takes 2.1 s, a product may take three times that and 1.5 s, a new application 2 s, and `dev` 4 s.
const MOST_PRODUCT = 3.7
const MOST_NEW = 0.95
const MOST_DEV = 1.9

const COMMAND_LIMIT_MS = 600_000 // for one that hangs

/**
 * A build of a product beside esbuild alone, which bundles its pages once for browsers; a build of a new application; the first
 * start of `dev` until a page has its scripts. Nothing is kept of builds and starts before. Needs npm's registry.
 */
export async function measureBuilds(
  folder: string,
  { rounds }: { readonly rounds: number },
): Promise<readonly Measurement[]> {
  const [plain, product] = await makeApplications(folder)
  const times: { alone: number; product: number; plain: number; dev: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    times.push({
      alone: await timeOf(product, ['alone.mjs']),
      product: await buildTime(product),
      plain: await buildTime(plain),
      dev: await firstStart(product),
    })
  }
  const middle = (key: keyof (typeof times)[number]): number => median(times.map((time) => time[key]))
  const alone = middle('alone')
  const beside = (name: string, key: 'product' | 'plain' | 'dev', limit: number): Measurement => ({
    name,
    value: middle(key) / alone,
    unit: '×',
    gate: { bound: '≤', limit },
    detail: `${middle(key).toFixed(0)} ms, esbuild alone ${alone.toFixed(0)} ms; ${rounds} rounds`,
  })
  return [
    beside(`build with ${LIBRARY_COUNT} libraries`, 'product', MOST_PRODUCT),
    beside('build of a new application', 'plain', MOST_NEW),
    beside(`first start of dev, ${LIBRARY_COUNT} libraries`, 'dev', MOST_DEV),
  ]
}

/** @returns the folders of a new application and of the product. */
async function makeApplications(folder: string): Promise<readonly [plain: string, product: string]> {
  const packed = await run(PROJECT, [join(PROJECT, 'scripts/package.ts'), '--to', folder])
  const archive = packed.trimEnd().split('\n').at(-1) ?? ''
  const [plain, product] = [join(folder, 'plain'), join(folder, 'product')]
  for (const app of [plain, product]) {
    await run(PROJECT, [join(PROJECT, 'bin/millrace.js'), 'new', app, '--no-install', '--package', archive])
  }
  await addLibraries(product)
  // Some libraries name no newer React than the one before.
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps']
  for (const app of [plain, product]) await run(app, install, 'npm')
  return [plain, product]
}

/** @throws {Error} with what a command has said, where it fails. */
async function run(cwd: string, args: readonly string[], command = process.execPath): Promise<string> {
  const { code, output } = await runCommand(command, args, { cwd, output: 'collect', timeoutMs: COMMAND_LIMIT_MS })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} has failed.\n${output}`)
  return output
}

async function timeOf(cwd: string, args: readonly string[]): Promise<number> {
  const started = performance.now()
  await run(cwd, args)
  return performance.now() - started
}

async function buildTime(app: string): Promise<number> {
  await forget(app)
  return timeOf(app, ['node_modules/millrace/bin/millrace.js', 'build'])
}

async function forget(app: string): Promise<void> {
  for (const kept of ['dist', 'node_modules/.cache']) await rm(join(app, kept), { recursive: true, force: true })
}

/** Until the first page is there, with all scripts that it names. */
async function firstStart(app: string): Promise<number> {
  await forget(app)
  const started = performance.now()
  const child = spawn(process.execPath, ['node_modules/millrace/bin/millrace.js', 'dev'], {
    cwd: app,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const origin = /http:\/\/localhost:\d+/.exec(line)?.[0]
      if (origin === undefined) continue
      child.stdout.resume()
      const page = await (await fetch(`${origin}/libraries/0`)).text()
      const scripts = [...page.matchAll(/ (?:src|href)="(\/_m\/assets\/[^"]+\.[jt]sx?[^"]*)"/g)]
      if (scripts.length === 0) throw new Error(`The first page of dev has no scripts:\n${page}`)
      for (const [, path = ''] of scripts) await (await fetch(origin + path)).arrayBuffer()
      return performance.now() - started
    }
    throw new Error('dev has ended before it was listening.')
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
}

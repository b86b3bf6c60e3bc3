/**
 * `node scripts/container-check.ts [--twice] [--keep <folder>]`: builds the Dockerfile with buildah and tests the result:
 * the content of the image, its size, and the running container as another user, with a read-only root and a memory
 * limit. Then it does the same for the Dockerfile of a new application. debootstrap makes a substitute for Node's image,
 * so no image registry is needed. `--twice` builds a second time and compares: `npm test -- --soak` does that, and
 * `npm test -- --all` builds once. `--keep` keeps the image. For root on Debian or Ubuntu. Exits with 0 if all checks
 * pass, and also if it cannot run, unless REQUIRE_PROGRAMS=1.
 */
import { mkdirSync, mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findExecutable } from '../tests/support/programs.ts'
import { makeBaseImage } from './container/base-image.ts'
import { checkContents } from './container/check-contents.ts'
import { checkNewApplication } from './container/check-new-application.ts'
import { checkContext } from './container/check-context.ts'
import { checkRunning } from './container/check-running.ts'
import { checkSettings } from './container/check-settings.ts'
import { createEngine, type BuiltImage, type Engine } from './container/engine.ts'
import { treeDigest } from './container/image-tree.ts'
import { containerObstacle } from './container/obstacle.ts'

const BASE = 'localhost/millrace-base'

const context = resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { twice: { type: 'boolean' }, keep: { type: 'string' } } })

async function timed<Value>(title: string, work: Promise<Value>): Promise<Value> {
  const started = performance.now()
  const value = await work
  console.log(`${title}: ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return value
}

function buildImage(engine: Engine, tag: string): Promise<BuiltImage> {
  return engine.build({ context, dockerfile: join(context, 'Dockerfile'), tag, args: { BASE } })
}

async function checkImage(engine: Engine, work: string): Promise<boolean> {
  await timed('Stand-in for the image of Node', makeBaseImage(engine, context, join(work, 'base'), BASE))
  const faults = await checkOwnImage(engine, work)
  const request = { context, work: join(work, 'new'), base: BASE }
  faults.push(...(await timed('A new application', checkNewApplication(engine, request))))
  console.log(`\n${faults.length === 0 ? 'The images hold.' : `${faults.length} faults.`}`)
  return faults.length === 0
}

async function checkOwnImage(engine: Engine, work: string): Promise<string[]> {
  const image = await timed('Build', buildImage(engine, 'localhost/millrace'))
  const faults = [
    ...checkContents(image, pinnedNode()),
    ...(await checkContext(engine, join(context, '.dockerignore'), join(work, 'sent'))),
  ]
  // A faulty image is not run: as another user it may not even start.
  if (faults.length === 0) {
    faults.push(...(await checkRunning(image, join(work, 'data'))))
    faults.push(...(await checkSettings(image, join(work, 'settings'))))
  }
  if (values.twice === true) {
    const again = await timed('Build again', buildImage(engine, 'localhost/millrace-again'))
    const same = treeDigest(image.root) === treeDigest(again.root)
    console.log(`${same ? 'ok  ' : 'FAIL'} two builds have equal files`)
    if (!same) faults.push('two builds differ')
  }
  return faults
}

function pinnedNode(): string {
  const manifest = JSON.parse(readFileSync(join(context, 'package.json'), 'utf8')) as Record<string, unknown>
  return (manifest['devDependencies'] as Record<string, string>)['node'] ?? ''
}

async function main(work: string): Promise<boolean> {
  const reason = containerObstacle(findExecutable, process.getuid?.())
  if (reason !== undefined) {
    const required = process.env['REQUIRE_PROGRAMS'] === '1'
    console.log(`Container check ${required ? 'cannot run' : 'skipped'}: ${reason}`)
    return !required
  }
  const engine = createEngine(work)
  try {
    return await checkImage(engine, work)
  } finally {
    if (values.keep === undefined) await engine.close()
  }
}

const temp = values.keep === undefined ? mkdtempDisposableSync(join(tmpdir(), 'millrace-image-')) : undefined
const work = temp?.path ?? resolve(values.keep ?? '')
mkdirSync(work, { recursive: true })
try {
  process.exitCode = (await main(work)) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  temp?.remove()
}

/**
 * `node scripts/container-check.ts [--twice] [--chapter] [--keep <folder>]`: executes the Dockerfile without an engine, in
 * an empty folder, and tests what comes out: what is in the image, its size, and the running container as another user,
 * with a root that cannot be written to. `--twice` builds a second time and compares; `--chapter` follows the first
 * section of docs/deployment.md instead. For root on Debian or Ubuntu with tini and Redis (`apt-get install tini
 * redis-server`); packages come from the registry that npm is set to.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkContents } from './container/check-contents.ts'
import { checkRunning } from './container/check-running.ts'
import { checkSettings } from './container/check-settings.ts'
import { readDockerfile } from './container/dockerfile.ts'
import { followChapter } from './container/follow-chapter.ts'
import { readIgnoreList } from './container/ignore-list.ts'
import { treeDigest } from './container/image-tree.ts'
import { runStages, type BuiltImage } from './container/run-stages.ts'

const context = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { twice: { type: 'boolean' }, chapter: { type: 'boolean' }, keep: { type: 'string' } },
})

// `node` in the steps is the one that runs this file, which is the pinned one.
process.env['PATH'] = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`

async function buildImage(work: string): Promise<BuiltImage> {
  return runStages(readDockerfile(readFileSync(join(context, 'Dockerfile'), 'utf8')), {
    context,
    ignored: readIgnoreList(readFileSync(join(context, '.dockerignore'), 'utf8')),
    work,
    onStep: (line) => console.log(`  ${line}`),
  })
}

async function main(work: string): Promise<boolean> {
  if (values.chapter === true) return (await followChapter(context, work)).length === 0
  if (process.getuid?.() !== 0) throw new Error('This has to run as root: it mounts, and becomes another user.')
  console.log('Build')
  const image = await buildImage(join(work, 'first'))
  const faults = [
    ...checkContents(image),
    ...(await checkRunning(image, join(work, 'data'))),
    ...(await checkSettings(image, join(work, 'settings'))),
  ]
  if (values.twice === true) {
    console.log('Build again')
    const again = await buildImage(join(work, 'second'))
    const same = treeDigest(image.root) === treeDigest(again.root)
    console.log(`${same ? 'ok  ' : 'FAIL'} two builds have equal files`)
    if (!same) faults.push('two builds differ')
  }
  console.log(`\n${faults.length === 0 ? 'The image holds.' : `${faults.length} faults.`}`)
  return faults.length === 0
}

const work = values.keep === undefined ? mkdtempSync(join(tmpdir(), 'millrace-image-')) : resolve(values.keep)
mkdirSync(work, { recursive: true })
try {
  process.exitCode = (await main(work)) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  if (values.keep === undefined) rmSync(work, { recursive: true, force: true })
}

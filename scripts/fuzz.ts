/**
 * `node scripts/fuzz.ts [targets] [--seconds 60] [--seed <n>]`, which `npm test -- --soak` runs: feeds each parser with
 * mutated inputs for that long, and continues with those that reach new code. They are kept in
 * `tests/fixtures/fuzz-corpus`, which the unit tests replay: commit them. The first input of a target that breaks a
 * promise is kept, too, and ends with exit code 1.
 */
import { parseArgs } from 'node:util'
import { watchBlocks } from '../tests/fuzz/block-coverage.ts'
import { keepInput, readCorpus } from '../tests/fuzz/corpus.ts'
import { mutate } from '../tests/fuzz/mutate.ts'
import { seededRandom } from './seeded-random.ts'
import { FUZZ_TARGETS, type FuzzTarget } from '../tests/fuzz/targets.ts'

/**
 * Reading the coverage counters costs as much as many runs: once per batch, and for each input of a batch with new
 * coverage.
 */
const BATCH = 64
const SLOW_MS = 1_000 // an input of 4 KB that takes longer is a fault as well

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
})
const names = positionals.length > 0 ? positionals : Object.keys(FUZZ_TARGETS)
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
console.log(`Seed ${seed}`)
for (const name of names) {
  const target = FUZZ_TARGETS[name]
  if (target === undefined) throw new Error(`No target ${name}: ${Object.keys(FUZZ_TARGETS).join(', ')}`)
  if (!(await fuzz(name, target, Number(values.seconds) * 1_000))) process.exitCode = 1
}

/** @returns whether all promises were kept. */
async function fuzz(name: string, { run, seeds, words }: FuzzTarget, milliseconds: number): Promise<boolean> {
  await using watch = await watchBlocks((url) => url.includes('/src/'))
  const coverage = watch.record()
  const random = seededRandom(seed)
  const corpus: Buffer[] = []
  const counts = { runs: 0, kept: 0 }

  /** @returns the fault of an input, if it has one. */
  async function faultOf(input: Buffer): Promise<unknown> {
    const startedAt = performance.now()
    counts.runs += 1
    try {
      await run(input)
    } catch (error) {
      return error ?? new Error('Nothing was thrown')
    }
    const tookMs = performance.now() - startedAt
    return tookMs > SLOW_MS ? new Error(`It took ${tookMs.toFixed(0)} ms`) : undefined
  }

  async function report(input: Buffer, fault: unknown): Promise<false> {
    console.error(fault)
    console.error(`\n${JSON.stringify(input.toString('latin1'))}\nkept as ${await keepInput(name, input)}`)
    return false
  }

  const known = await readCorpus(name)
  for (const input of [...seeds.map((text) => Buffer.from(text)), ...known]) {
    const fault = await faultOf(input)
    if (fault !== undefined) return report(input, fault)
    if ((await coverage.take()) > 0 || corpus.length === 0) corpus.push(input)
  }
  console.log(
    `${name}: ${corpus.length} of ${seeds.length + known.length} inputs, ${coverage.covered} characters covered`,
  )

  for (const deadline = performance.now() + milliseconds; performance.now() < deadline;) {
    const batch = Array.from({ length: BATCH }, () => mutate({ random, corpus, words }))
    for (const input of batch) {
      const fault = await faultOf(input)
      if (fault !== undefined) return report(input, fault)
    }
    if ((await coverage.take()) === 0) continue
    // Find the input that did it: the others reach nothing new beside it.
    const before = coverage.covered
    const shown = await whichOf(batch)
    for (const input of shown) {
      corpus.push(input)
      await keepInput(name, input)
      counts.kept += 1
    }
    console.log(`${counts.runs} runs, ${corpus.length} inputs, ${before} characters covered`)
  }
  console.log(`${name}: ${counts.runs} runs, ${counts.kept} inputs kept, ${coverage.covered} characters covered`)
  return true

  /** The inputs of a batch that reach code beyond the corpus, each after those before it. */
  async function whichOf(batch: readonly Buffer[]): Promise<readonly Buffer[]> {
    const fresh = watch.record()
    for (const input of corpus) await faultOf(input)
    await fresh.take()
    const shown: Buffer[] = []
    for (const input of batch) {
      await faultOf(input)
      if ((await fresh.take()) > 0) shown.push(input)
    }
    return shown
  }
}

import { describe, expect, test, vi } from 'vitest'
import { readCorpus } from '../../fuzz/corpus.ts'
import { seededRandom } from '../../../scripts/seeded-random.ts'
import { mutate } from '../../fuzz/mutate.ts'
import { BrokenPromiseError, FUZZ_TARGETS } from '../../fuzz/targets.ts'

const RUNS = 300 // a look at each target, in any test run; `npm test -- --soak` looks for longer

describe.for(Object.entries(FUZZ_TARGETS))('%s', ([name, { run, seeds, words }]) => {
  test('keeps its promises for everything that was ever found, and some more', async () => {
    const corpus = [...seeds.map((text) => Buffer.from(text)), ...(await readCorpus(name))]
    expect(corpus.length).toBeGreaterThan(seeds.length)
    const random = seededRandom(corpus.length)
    const more = Array.from({ length: RUNS }, () => mutate({ random, corpus, words }))
    const faults: string[] = []
    for (const input of [...corpus, ...more]) {
      try {
        await run(input)
      } catch (error) {
        faults.push(`${JSON.stringify(input.toString('latin1'))}: ${String(error)}`)
      }
    }
    expect(faults).toEqual([])
  })
})

test('a promise that is broken is seen', () => {
  const guard = FUZZ_TARGETS['request-target']
  expect(() => guard?.run(Buffer.from('/a'))).not.toThrow()
  // The guard finds nothing any more.
  vi.spyOn(RegExp.prototype, 'test').mockReturnValue(false)
  expect(() => guard?.run(Buffer.from('//evil.test'))).toThrow(BrokenPromiseError)
})

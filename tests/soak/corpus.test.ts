/** Packages that products use: type-checked, built, served, hydrated, and run by `millrace dev`. */
import { expect, test } from 'vitest'
import { CORPUS } from '../support/corpus/corpus.ts'
import { testCorpus } from '../support/corpus/corpus-tests.ts'

test('the corpus has at least fifty packages', () => {
  expect(new Set(CORPUS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(50)
})

testCorpus(CORPUS)

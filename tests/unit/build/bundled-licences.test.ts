import { expect, test } from 'vitest'
import { licenceList } from '../../../scripts/build/output/bundled-licences.ts'

test('the list of licences has each text once, below all packages that have it', () => {
  const list = licenceList([
    { title: 'a@1', licence: 'MIT\n\nCopyright Ada' },
    { title: 'b@1', licence: undefined },
    { title: 'c@1', licence: 'Apache' },
    { title: 'd@2', licence: 'MIT\n\nCopyright Ada' },
  ])
  const line = '-'.repeat(80)
  expect(list.split(`\n\n${line}\n\n`)).toEqual([
    'c@1\n\nApache',
    'a@1\nd@2\n\nMIT\n\nCopyright Ada',
    'b@1\n\nNo licence is named.',
  ])
})

/** What a browser is told of the user of its session. */
import { expect, test } from 'vitest'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'
import { userMarks } from '../../../src/server/secrets/user-mark.ts'

const secrets = createSecrets(['a key of thirty-two characters...'])

test('a user has one mark, another user another, and other keys make others', () => {
  const mark = userMarks({ secrets }, 'member ann')
  expect(mark).toMatch(/^[\w-]{10}$/)
  expect(userMarks({ secrets }, 'member ann')).toBe(mark)
  expect(userMarks({ secrets }, 'member bob')).not.toBe(mark)
  expect(userMarks({ secrets }, 'admin ann')).not.toBe(mark)
  expect(userMarks({ secrets: createSecrets(['another key of thirty-two chars..']) }, 'member ann')).not.toBe(mark)
})

test('while keys are changed a user has a mark by each, and so one that is known', () => {
  const [old, fresh] = ['a key of thirty-two characters...', 'another key of thirty-two chars..']
  const marks = userMarks({ secrets: createSecrets([fresh, old]) }, 'member ann').split('.')
  expect(marks).toEqual([
    userMarks({ secrets: createSecrets([fresh]) }, 'member ann'),
    userMarks({ secrets: createSecrets([old]) }, 'member ann'),
  ])
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const TEMPLATES = join(import.meta.dirname, '../../../templates')

test.each(['application', 'minimal'])('the secrets of a new application (%s) stay out of its repository', (name) => {
  const lines = readFileSync(join(TEMPLATES, name, 'gitignore'), 'utf8').split('\n')
  expect(lines).toEqual(expect.arrayContaining(['.env', '.env.*', '/data/']))
})

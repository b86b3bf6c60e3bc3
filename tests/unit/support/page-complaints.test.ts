import { expect, test } from 'vitest'
import { statusComplaint, staysHere, unexpectedComplaints } from '../../support/page-complaints.ts'

const NOT_FOUND =
  'console.error: Failed to load resource: the server responded with a status of 404 (Not Found) (http://127.0.0.1/x)'

test('only what the test allowed is left out', () => {
  expect(unexpectedComplaints([NOT_FOUND, 'uncaught: Error: x'], [statusComplaint(404)])).toEqual([
    'uncaught: Error: x',
  ])
  expect(unexpectedComplaints([NOT_FOUND], [statusComplaint(403)])).toEqual([NOT_FOUND])
  expect(unexpectedComplaints([NOT_FOUND], [])).toEqual([NOT_FOUND])
})

test.for([
  ['http://127.0.0.1:3000/lab', true],
  ['http://localhost:3000/', true],
  ['ws://[::1]:3000/', true],
  ['http://app.localhost:3000/', true],
  ['data:image/svg+xml,x', true],
  ['blob:http://127.0.0.1:3000/1', true],
  ['https://example.com/', false],
  ['http://localhost.example.com/', false],
] as const)('%s stays on this machine: %s', ([url, stays]) => {
  expect(staysHere(url)).toBe(stays)
})

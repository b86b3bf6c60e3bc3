import { describe, expect, test } from 'vitest'
import { dsnText, envelopeUrl, INBOX_DSN, isSameDsn, parseDsn } from '../../../src/server/config/dsn.ts'

function parsed(text: string) {
  const dsn = parseDsn(text)
  if (dsn === undefined) throw new Error(`${text} is no DSN`)
  return dsn
}

describe('envelopes go to the project of the DSN', () => {
  test.for([
    ['https://key@errors.test/1', 'https://errors.test/api/1/envelope/'],
    ['http://key@errors.test:9000/22', 'http://errors.test:9000/api/22/envelope/'],
    ['https://key@errors.test/deep/path/3', 'https://errors.test/deep/path/api/3/envelope/'],
    ['https://key:secret@errors.test/1', 'https://errors.test/api/1/envelope/'],
    ['http://key@[::1]:9000/1', 'http://[::1]:9000/api/1/envelope/'],
    [INBOX_DSN, 'https://inbox.invalid/api/1/envelope/'],
  ] as const)('%s', ([text, url]) => {
    expect(envelopeUrl(parsed(text)).href).toBe(url)
  })
})

describe('what is no DSN', () => {
  test.for([
    '',
    'key@errors.test/1',
    'ftp://key@errors.test/1',
    'https://errors.test/1',
    'https://key@errors.test',
    'https://key@errors.test/',
    'https://key@errors.test/project',
    'https://key@errors.test/1/',
    'https://key@errors.test/1?x=1',
    'https://key@errors.test/1#x',
    'https://k%20y@errors.test/1',
    'https://key@errors.test/a%2fb/1',
    `https://key@errors.test/${'1'.repeat(2_000)}`,
  ])('%s', (text) => {
    expect(parseDsn(text)).toBeUndefined()
  })
})

describe('the same project by another spelling', () => {
  test.for(['https://key@ERRORS.test/1', 'https://key@errors.test:443/1', 'https://key:secret@errors.test/1'])(
    '%s',
    (text) => {
      expect(isSameDsn(parsed(text), parsed('https://key@errors.test/1'))).toBe(true)
    },
  )
})

describe('another project', () => {
  test.for([
    'http://key@errors.test/1',
    'https://kez@errors.test/1',
    'https://Key@errors.test/1',
    'https://key@errors.test.evil/1',
    'https://key@errors.test:444/1',
    'https://key@errors.test/x/1',
    'https://key@errors.test/2',
    'https://key@errors.test/11',
  ])('%s', (text) => {
    expect(isSameDsn(parsed(text), parsed('https://key@errors.test/1'))).toBe(false)
  })
})

test('a secret behind the key is not handed on to browsers', () => {
  expect(dsnText(parsed('https://key:secret@errors.test:8443/path/1'))).toBe('https://key@errors.test:8443/path/1')
})

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { dockerfileFaults } from './dockerfile-steps.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(resolve(PROJECT, path), 'utf8')
const pinnedNode =
  (JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }).devDependencies['node'] ?? ''
const source = read('Dockerfile')

test('the Dockerfile has no faults', () => {
  expect(dockerfileFaults(source, pinnedNode)).toEqual([])
})

test.for([
  ['an image of another Node', (text: string) => text.replace(`node:${pinnedNode}-slim`, 'node:26-slim')],
  ['the image of the newest Node', (text: string) => text.replace(`node:${pinnedNode}-slim`, 'node:latest')],
  ['a stage with another base', (text: string) => text.replace('FROM ${BASE} AS build', 'FROM node:26-slim AS build')],
  ['one stage', (text: string) => text.slice(0, text.indexOf('FROM', text.indexOf('FROM ') + 5))],
  ['a base in the image', (text: string) => text.replace('FROM scratch', 'FROM ${BASE}')],
  [
    'a secret in the environment',
    (text: string) => text.replace(/^VOLUME/m, 'ENV SECRET_KEYS=0123456789abcdef\nVOLUME'),
  ],
  ['a secret as an argument', (text: string) => text.replace(/^RUN npm ci --include/m, 'ARG NPM_TOKEN\nRUN npm ci')],
  ['a shell in the image', (text: string) => text.replace(/^VOLUME/m, 'RUN mkdir /data\nVOLUME')],
  ['sources in the image', (text: string) => text.replace(/^ENV NODE_ENV/m, 'COPY . /app\nENV NODE_ENV')],
  ['development packages', (text: string) => text.replace('npm ci --omit=dev', 'npm ci')],
  ['packages that the lock does not fix', (text: string) => text.replace('npm ci --include', 'npm install --include')],
  ['more of Debian than needed', (text: string) => text.replace(' --no-install-recommends', '')],
  ['a file from a host', (text: string) => text.replace(/^COPY \. \.$/m, 'ADD https://example.com/x.tgz .')],
] as const)('%s is a fault', ([, change]) => {
  const changed = change(source)
  expect(changed).not.toBe(source)
  expect(dockerfileFaults(changed, pinnedNode)).not.toEqual([])
})

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DockerfileError, readDockerfile } from '../../../scripts/container/dockerfile.ts'
import { readIgnoreList } from '../../../scripts/container/ignore-list.ts'
import { dockerfileFaults } from './dockerfile-faults.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(resolve(PROJECT, path), 'utf8')
const pinnedNode =
  (JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }).devDependencies['node'] ?? ''

describe('the Dockerfile', () => {
  const source = read('Dockerfile')

  test('has no faults', () => {
    expect(dockerfileFaults(source, pinnedNode)).toEqual([])
  })

  test.for([
    ['an image of another Node', (text: string) => text.replaceAll(`node:${pinnedNode}-slim`, 'node:26-slim')],
    ['the image of the newest Node', (text: string) => text.replace(`node:${pinnedNode}-slim`, 'node:latest')],
    ['root', (text: string) => text.replace(/^USER .*$/m, 'USER root')],
    ['no user at all', (text: string) => text.replace(/^USER .*$\n/m, '')],
    ['a user without a number', (text: string) => text.replace(/^USER .*$/m, 'USER node')],
    ['one stage', (text: string) => text.slice(0, text.indexOf('FROM', text.indexOf('FROM') + 1))],
    [
      'a health check that needs a shell',
      (text: string) => text.replace(/CMD \["\/usr\/local\/bin\/node", "\/app\/health.*$/m, 'CMD curl -f localhost'),
    ],
    ['no health check', (text: string) => text.replace(/^HEALTHCHECK.*$\n/m, '')],
    ['a command that needs a shell', (text: string) => text.replace(/^CMD .*$/m, 'CMD npm run serve')],
    ['Node as process 1', (text: string) => text.replace(/^ENTRYPOINT.*$\n/m, '')],
    [
      'a secret in the environment',
      (text: string) => text.replace(/^VOLUME/m, 'ENV SECRET_KEYS=0123456789abcdef\nVOLUME'),
    ],
    [
      'a secret as an argument',
      (text: string) => text.replace(/^RUN npm ci --include/m, 'ARG NPM_TOKEN\nRUN npm ci --include'),
    ],
    ['sources in the image', (text: string) => text.replace(/^ENV NODE_ENV/m, 'COPY . /app\nENV NODE_ENV')],
    ['development packages', (text: string) => text.replace('npm ci --omit=dev', 'npm ci')],
    [
      'packages that the lock does not fix',
      (text: string) => text.replace('npm ci --omit=dev', 'npm install --omit=dev'),
    ],
    ['a file from a host', (text: string) => text.replace(/^COPY \. \.$/m, 'ADD https://example.com/x.tgz .')],
    ['no volume for data', (text: string) => text.replace(/^VOLUME.*$\n/m, '')],
    ['development mode', (text: string) => text.replace('NODE_ENV=production', 'NODE_ENV=development')],
  ] as const)('%s is a fault', ([, change]) => {
    const changed = change(source)
    expect(changed).not.toBe(source)
    expect(dockerfileFaults(changed, pinnedNode)).not.toEqual([])
  })
})

describe('the reader of Dockerfiles', () => {
  test('joins continued lines and takes options off', () => {
    const [stage] = readDockerfile('FROM a AS b\nCOPY --from=x --chown=1:2 \\\n  /from \\\n  /to\n')
    expect(stage).toMatchObject({
      name: 'b',
      base: 'a',
      steps: [{ name: 'COPY', flags: { from: 'x', chown: '1:2' }, text: '/from /to', line: 2 }],
    })
  })

  test('tells exec form from shell form', () => {
    const [stage] = readDockerfile('FROM a\nCMD ["node", "x"]\nHEALTHCHECK --interval=1s CMD ["y"]\nCMD [node]\n')
    expect(stage?.steps.map(({ exec }) => exec)).toEqual([['node', 'x'], ['y'], undefined])
  })

  test.for(['', 'RUN x\nFROM a', 'FROM a TO b', 'FROM a\nRUN'])('refuses %j', (source) => {
    expect(() => readDockerfile(source)).toThrow(DockerfileError)
  })
})

describe('what goes into the build', () => {
  const ignored = readIgnoreList(read('.dockerignore'))

  test.for([
    'package.json',
    '.npmrc',
    'src/server/main.ts',
    'scripts/build.ts',
    'docs/index.md',
    'deploy/health-check.mjs',
  ])('%s does', (path) => {
    expect(ignored(path)).toBe(false)
  })

  test.for([
    '.env',
    '.env.local',
    'src/.env',
    'data/secret-keys',
    '.git/config',
    'node_modules/x/index.js',
    'dist/manifest.json',
    'dist/former/build/page.js',
    'tests/unit/x.test.ts',
    'deploy/kubernetes/deployment.yaml',
    'src/app/debug.log',
    'id_rsa',
    'compose.yaml',
  ])('%s does not', (path) => {
    expect(ignored(path)).toBe(true)
  })
})

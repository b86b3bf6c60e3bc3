import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readDockerfile } from '../../../scripts/container/dockerfile.ts'
import { readIgnoreList } from '../../../scripts/container/ignore-list.ts'
import { runStages } from '../../../scripts/container/run-stages.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const DOCKERFILE = `FROM scratch AS build
WORKDIR /app
COPY . .
RUN mkdir data
`

test('a folder that is left out of the build leaves no trace in it, as with an engine', async () => {
  const folder = await makeTempDir('stages')
  onTestFinished(() => folder.remove())
  const context = join(folder.path, 'context')
  // As a server that was tried out leaves them.
  for (const name of [
    'data/secret-keys',
    'data/deep/file',
    'src/main.ts',
    'deploy/nginx.conf',
    'deploy/health-check.mjs',
  ]) {
    mkdirSync(dirname(join(context, name)), { recursive: true })
    writeFileSync(join(context, name), name)
  }
  mkdirSync(join(context, 'src/empty'))
  const { root } = await runStages(readDockerfile(DOCKERFILE), {
    context,
    ignored: readIgnoreList('*\n!src\n!deploy\ndeploy/*\n!deploy/health-check.mjs\n'),
    work: join(folder.path, 'work'),
    onStep: () => undefined,
  })
  const names = readdirSync(join(root, 'app'), { recursive: true, encoding: 'utf8' })
  expect(names.toSorted()).toEqual(['data', 'deploy', 'deploy/health-check.mjs', 'src', 'src/empty', 'src/main.ts'])
})

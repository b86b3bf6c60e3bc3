/** One instruction of a Dockerfile. */
interface Step {
  /** `COPY`, `RUN` and so on. */
  readonly name: string
  readonly text: string
}

/** The instructions of this project's Dockerfile, by stage; those before the first `FROM` come first. One a line. */
export function dockerfileStages(source: string): readonly (readonly Step[])[] {
  const stages: Step[][] = [[]]
  for (const line of source.split('\n').filter((text) => /^[A-Z]/.test(text))) {
    const [name = '', ...rest] = line.split(' ')
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, text: rest.join(' ') })
  }
  return stages
}

const SECRET = /SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE|DSN/i

/**
 * The rules that the steps of a build keep, which the image that comes out does not show. What it shows is looked at by
 * `scripts/container-check.ts`.
 * @param nodeVersion as package.json pins it.
 * @returns one line a fault.
 */
export function dockerfileFaults(source: string, nodeVersion: string): string[] {
  const [before = [], ...stages] = dockerfileStages(source)
  const image = stages.at(-1) ?? []
  const steps = stages.flat()
  const faults: string[] = []
  const rule = (holds: boolean, words: string): void => void (holds || faults.push(words))
  const base = `BASE=node:${nodeVersion}-slim`
  rule(before.length === 1 && before[0]?.text === base, `it begins with ARG ${base}, and nothing else`)
  const froms = stages.map(([from]) => from?.text.split(' ')[0])
  rule(froms.length > 1, 'what builds is not in the image')
  rule(froms.at(-1) === 'scratch', 'the image has nothing of the base image')
  rule(
    froms.slice(0, -1).every((from) => from === '${BASE}'),
    'all stages that build have the same base',
  )
  rule(
    steps.every(({ name }) => name !== 'ADD' && name !== 'ARG'),
    'nothing is fetched or given by ADD or ARG',
  )
  rule(!steps.some(({ name, text }) => /^(?:ENV|LABEL)$/.test(name) && SECRET.test(text)), 'no secret is in the image')
  rule(!steps.some(({ text }) => /\bnpm (?:i|install|update)\b/.test(text)), 'the lock file decides what is installed')
  rule(
    steps.some(({ text }) => text.startsWith('npm ci --omit=dev')),
    'packages for production are installed alone',
  )
  rule(
    steps.every(({ text }) => !text.includes('apt-get install') || text.includes('--no-install-recommends')),
    'apt installs what is asked for',
  )
  rule(
    image.every(({ name }) => name !== 'RUN'),
    'the image has no shell',
  )
  rule(
    image.every(({ name, text }) => name !== 'COPY' || text.startsWith('--from=')),
    'no sources are in the image',
  )
  return faults
}

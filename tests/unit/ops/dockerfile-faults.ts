import { readDockerfile, type Instruction, type Stage } from '../../../scripts/container/dockerfile.ts'

const SECRET = /SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|PRIVATE|DSN/i
const CARRIES_VALUES = new Set(['ENV', 'ARG', 'LABEL'])

/**
 * The rules that a Dockerfile of this project keeps.
 * @param nodeVersion as package.json pins it.
 * @returns one line a fault.
 */
export function dockerfileFaults(source: string, nodeVersion: string): string[] {
  const stages = readDockerfile(source)
  const last = stages.at(-1)
  if (last === undefined) return ['there is no stage']
  return [...stages.flatMap((stage) => stageFaults(stage, nodeVersion)), ...imageFaults(stages, last)]
}

function stageFaults({ base, steps }: Stage, nodeVersion: string): string[] {
  const faults: string[] = []
  if (base !== 'scratch' && base !== `node:${nodeVersion}-slim`) {
    faults.push(`FROM ${base}: expected node:${nodeVersion}-slim, the version that package.json pins`)
  }
  for (const step of steps) {
    if (CARRIES_VALUES.has(step.name) && SECRET.test(step.text))
      faults.push(at(step, 'ends in the image for all to read'))
    if (step.name === 'ADD') faults.push(at(step, 'takes what it gets; use COPY'))
    if (step.name === 'RUN' && /\bnpm (?:i|install|update)\b/.test(step.text)) {
      faults.push(at(step, 'installs what the lock file does not fix; use npm ci'))
    }
    if (step.name === 'RUN' && /\bapt-get install\b/.test(step.text) && !/--no-install-recommends/.test(step.text)) {
      faults.push(at(step, 'installs what nobody has asked for'))
    }
  }
  return faults
}

function imageFaults(stages: readonly Stage[], image: Stage): string[] {
  const faults: string[] = []
  const expectStep = (name: string, holds: (step: Instruction) => boolean, rule: string): void => {
    const steps = image.steps.filter((step) => step.name === name)
    const step = steps.at(-1)
    if (step === undefined) faults.push(`${name} is missing: ${rule}`)
    else if (!holds(step)) faults.push(at(step, rule))
  }
  if (stages.length < 2) faults.push('there is one stage: what builds would be in the image')
  if (
    !stages.some((stage) => stage.steps.some(({ name, text }) => name === 'RUN' && /^npm ci --omit=dev\b/.test(text)))
  ) {
    faults.push('no stage installs production packages alone, by npm ci --omit=dev')
  }
  for (const step of image.steps) {
    if (step.name === 'COPY' && step.flags['from'] === undefined)
      faults.push(at(step, 'takes sources and not a result'))
    if (step.name === 'RUN') faults.push(at(step, 'would need a shell in the image'))
  }
  expectStep('USER', ({ text }) => /^[1-9]\d*:[1-9]\d*$/.test(text), 'must be numbers, and not root’s')
  expectStep('VOLUME', ({ text }) => text === '/data', 'all else is read-only')
  expectStep('ENTRYPOINT', ({ exec }) => exec?.[0]?.endsWith('/tini') === true, 'process 1 must be tini')
  expectStep('CMD', ({ exec }) => exec?.[0]?.endsWith('/node') === true, 'must start Node without a shell')
  expectStep('HEALTHCHECK', ({ exec }) => exec?.[0]?.endsWith('/node') === true, 'must be in exec form')
  expectStep('EXPOSE', ({ text }) => text === '3000', 'names the port')
  const production = image.steps.some(({ name, text }) => name === 'ENV' && text === 'NODE_ENV=production')
  if (!production) faults.push('ENV NODE_ENV=production is missing')
  return faults
}

function at({ name, text, line }: Instruction, rule: string): string {
  return `line ${line}: ${name} ${text}: ${rule}`
}

#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { COMMANDS, helpOf, overview } from './help.js'
import { isNodeNewEnough, OLDEST_NODE } from './node-version.js'

const [name = '--help', ...args] = process.argv.slice(2)
const help = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined

if (name === '--help' || name === '-h') {
  console.log(overview())
} else if (name === '--version' || name === '-v') {
  console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
} else if (help === undefined) {
  fail(
    `${name} is not a command of millrace. The commands are ${Object.keys(COMMANDS).join(', ')}. Run millrace --help for a description.`,
  )
} else if (args.some((argument) => argument === '--help' || argument === '-h')) {
  console.log(helpOf(name, help))
  if ((name === 'start' || name === 'serve') && isNodeNewEnough()) {
    const { describeVariables } = await import('millrace/internal/command')
    console.log(`\n${await describeVariables()}`)
  }
} else if (name === 'new') {
  const { makeApplication } = await import('./new.js')
  await makeApplication(args, fail)
} else if (!isNodeNewEnough()) {
  fail(
    `millrace ${name} needs Node ${OLDEST_NODE} or newer, and this is ${process.version}. ` +
      'Install one from https://nodejs.org, or give the project its own: npm install --save-dev node',
  )
} else {
  const { runCommand } = await import('millrace/internal/command')
  await runCommand(name, args)
}

/** @param {string} fault */
function fail(fault) {
  console.error(fault)
  process.exitCode = 1
}

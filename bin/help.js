/**
 * What `millrace --help` says. Plain JavaScript, like all of this folder: it also runs on a Node that is too old for the rest.
 * @typedef {object} CommandHelp
 * @property {string} does One line.
 * @property {string} usage What follows `millrace <command>`.
 * @property {readonly (readonly [option: string, meaning: string])[]} options
 * @property {string} example
 */

/** @type {readonly [string, string]} */
const APP = ['--app <folder>', 'the application; default: src/app']
/** @type {readonly [string, string]} */
const OUT = ['--out <folder>', 'the build; default: dist']

/** @type {Readonly<Record<string, CommandHelp>>} */
export const COMMANDS = {
  new: {
    does: 'writes a new application into a folder',
    usage: '<folder> [options]',
    options: [
      ['--minimal', 'writes one page, without examples and tests'],
      ['--tailwind', 'adds Tailwind 4'],
      ['--package <version or archive>', 'the version of millrace to use; default: the one that runs'],
      ['--no-install', 'installs no packages, and writes no lock file'],
    ],
    example: 'npx millrace new mill-shop',
  },
  dev: {
    does: 'serves the sources; saving a file updates open pages',
    usage: '[options]',
    options: [
      APP,
      ['--host [address]', 'lets other machines connect: to this address, or to all addresses'],
      ['--allow-host <name>', 'accepts a further host name, such as that of a tunnel; may be repeated'],
      ['--https', 'serves https, with a certificate that mkcert or openssl makes once'],
      ['--cert <file> --key <file>', 'serves https with this certificate'],
      ['--poll [ms]', 'looks for saved files every 500 ms, if the system does not report them'],
      ['--inspect [[host:]port]', 'opens a port for a debugger; default: 127.0.0.1:9229'],
      ['--inspect-wait [[host:]port]', 'the same, and waits for the debugger at each start of the server'],
    ],
    example: 'PORT=4000 npx millrace dev --inspect',
  },
  build: {
    does: 'makes the production build',
    usage: '[options]',
    options: [
      APP,
      OUT,
      ['--analyze [text|json]', 'shows what is in the browser scripts, and why; json writes analysis.json'],
      ['--quiet', 'prints one line instead of all sizes, for scripts such as npm test'],
    ],
    example: 'npx millrace build --out /srv/shop',
  },
  start: {
    does: 'serves the production build; makes it first if it is missing or stale',
    usage: '[options]',
    options: [APP, OUT],
    example: 'PORT=8080 npx millrace start',
  },
  serve: {
    does: 'serves an existing production build, and never builds',
    usage: '[options]',
    options: [APP, OUT],
    example: 'npx millrace serve --out /srv/shop',
  },
  export: {
    does: 'writes pages that are the same for all visitors as files; builds first if needed',
    usage: '<folder> [options]',
    options: [
      ['<folder>', 'an empty folder, a new one, or that of an earlier export'],
      ['--partial', 'leaves out pages that cannot be files, and lists them'],
      APP,
      OUT,
    ],
    example: 'ORIGIN=https://mills.example npx millrace export site',
  },
  routes: {
    does: 'shows the route table and the rules',
    usage: '[options]',
    options: [APP],
    example: 'npx millrace routes',
  },
  docs: {
    does: 'searches the handbook of this version, and prints the section that fits best',
    usage: '[words]',
    options: [],
    example: 'npx millrace docs read a cookie',
  },
  'upload-source-maps': {
    does: 'uploads the source maps of a build to the error service',
    usage: '[options]',
    options: [OUT, ['--write <folder>', 'writes scripts and maps to a folder instead of sending them']],
    example: 'SENTRY_ORG=mills SENTRY_PROJECT=shop SENTRY_AUTH_TOKEN=… npx millrace upload-source-maps',
  },
}

const EXIT_CODES = 'Exit codes: 0 on success; 1 on failure, with a message on stderr.'

/** The list of all commands. */
export function overview() {
  const commands = Object.entries(COMMANDS).map(([name, { does }]) => /** @type {const} */ ([name, does]))
  return [
    'Usage: millrace <command> [options]',
    table(commands),
    table([
      ['--help', 'shows this list; after a command: its options'],
      ['--version', 'shows the version of millrace'],
    ]),
    EXIT_CODES,
  ].join('\n\n')
}

/**
 * The options of one command, with an example.
 * @param {string} name
 * @param {CommandHelp} help
 */
export function helpOf(name, { does, usage, options, example }) {
  return [
    `Usage: millrace ${name} ${usage}`,
    `${does[0]?.toUpperCase()}${does.slice(1)}.`,
    table([...options, ['--help', 'shows this text']]),
    `Example: ${example}`,
    EXIT_CODES,
  ].join('\n\n')
}

/** @param {readonly (readonly [string, string])[]} rows */
function table(rows) {
  const width = Math.max(...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`).join('\n')
}

import { defineConfig } from 'vitest/config'

const UNIT_TIMEOUT_MS = 30_000 // for hangs only; no test measures speed
const INSTALL_TIMEOUT_MS = 300_000 // npm may have to download everything
const SOAK_TIMEOUT_MS = 1_800_000 // installs and builds fifty packages
const BROWSER_TIMEOUT_MS = 60_000 // a cold Chromium on a busy two-core machine

/** What every project shares. A `.css` import is empty, a `.module.css` import gives its own class names back. */
const shared = {
  environment: 'node',
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
  css: { include: [/\.module\.css$/], modules: { classNameStrategy: 'non-scoped' } },
} as const

export default defineConfig({
  // The package's own entries, from their sources.
  resolve: { conditions: ['millrace-source', 'module', 'browser', 'development|production'] },
  ssr: { resolve: { conditions: ['millrace-source', 'module', 'node', 'development|production'] } },
  // An imported file is its URL, as in the build, and not its content.
  build: { assetsInlineLimit: 0 },
  test: {
    // React's development build, whatever the caller's shell says: its warnings are part of what tests look at.
    env: { NODE_ENV: 'test' },
    // One for each core: most tests wait for something, and unless told vitest leaves a core free.
    maxWorkers: '100%',
    // Of `npm test -- --coverage`, which names the folder.
    coverage: { provider: 'v8', reporter: ['text-summary', 'html'], exclude: ['tests/**', '**/dist/**'] },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'unit',
          include: ['tests/unit/**/*.test.{ts,tsx}'],
          // A module has no mutable state of its own (a house rule), so one process may load it once for many files.
          isolate: false,
          testTimeout: UNIT_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'http',
          include: ['tests/http/**/*.test.{ts,tsx}'],
          testTimeout: 2 * UNIT_TIMEOUT_MS,
          hookTimeout: 2 * UNIT_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'ops',
          include: ['tests/ops/**/*.test.ts'],
          // Each file starts several servers and loads them.
          fileParallelism: false,
          testTimeout: BROWSER_TIMEOUT_MS,
          hookTimeout: BROWSER_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'package',
          include: ['tests/package/**/*.test.ts'],
          globalSetup: ['tests/support/packed-archive.ts'],
          // Each step installs or builds.
          testTimeout: INSTALL_TIMEOUT_MS,
          hookTimeout: INSTALL_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'soak',
          include: ['tests/soak/**/*.test.ts'],
          globalSetup: ['tests/support/packed-archive.ts'],
          testTimeout: SOAK_TIMEOUT_MS,
          hookTimeout: SOAK_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'engines',
          include: ['tests/engines/**/*.test.ts'],
          // A browser each, and a machine may have two processors.
          fileParallelism: false,
          retry: 1, // as below
          testTimeout: BROWSER_TIMEOUT_MS,
          hookTimeout: BROWSER_TIMEOUT_MS,
        },
      },
      {
        extends: true,
        test: {
          ...shared,
          name: 'browser',
          include: ['tests/browser/**/*.test.{ts,tsx}'],
          // A page waits more than it works. Each worker starts its Chromium and its server once: see tests/support/browser.ts.
          maxWorkers: 2,
          isolate: false,
          // Two programs by the clock of a busy machine: one bad moment is no verdict. It is printed by name, and a fault.
          retry: 1,
          testTimeout: BROWSER_TIMEOUT_MS,
          hookTimeout: BROWSER_TIMEOUT_MS,
          expect: { poll: { timeout: BROWSER_TIMEOUT_MS / 4 } },
        },
      },
    ],
  },
})

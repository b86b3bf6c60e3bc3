import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** In this order: the first value of a variable wins, and the environment has priority over files. */
const FILES = ['.env.local', '.env'] as const

/** Reads the variables of a project's `.env` files into this process's environment. */
export function loadEnvFiles(folder: string): void {
  for (const file of FILES.map((name) => join(folder, name))) {
    if (existsSync(file)) process.loadEnvFile(file)
  }
}

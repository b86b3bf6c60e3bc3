import { hash } from 'node:crypto'
import type { ReportSettings } from '../../../shared/reports/report-settings.ts'
import { RECORDER_SETTINGS, type ReportAssets } from '../../assets/manifest.ts'
import { escapeJson } from '../../request/answer/escape-json.ts'

/** The script at the start of documents that records early failures. It is the same in all of them. */
export interface PageRecorder {
  readonly script: string
  /** Source expression for a `script-src` without nonces: `'sha256-...'`. */
  readonly source: string
}

/** Inserts the settings into the built recorder. */
export function createPageRecorder(assets: ReportAssets, settings: Omit<ReportSettings, 'sdk'>): PageRecorder {
  const json = escapeJson(JSON.stringify({ ...settings, sdk: assets.sdk }))
  const script = assets.recorder.replace(RECORDER_SETTINGS, () => json)
  return { script, source: `'sha256-${hash('sha256', script, 'base64')}'` }
}

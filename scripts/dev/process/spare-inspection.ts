import { startInspection, type InspectionProcess } from '../../build/project/inspection-process.ts'

/** Keeps a process ready that evaluates the application: its start takes longer than an evaluation. */
export interface SpareInspection {
  /** The process that is ready, or a new one. Another one is started later. */
  take(): InspectionProcess
  end(): void
}

const DELAY_MS = 1_000 // leaves the processor to the build, the server and its pages

export function createSpareInspection(): SpareInspection {
  const state: { spare?: InspectionProcess; timer?: NodeJS.Timeout } = {}
  const start = (): void => void (state.spare = startInspection('development'))
  start()
  return {
    take() {
      const { spare } = state
      delete state.spare
      clearTimeout(state.timer)
      state.timer = setTimeout(start, DELAY_MS).unref()
      return spare === undefined || spare.hasEnded() ? startInspection('development') : spare
    },
    end() {
      clearTimeout(state.timer)
      state.spare?.end()
    },
  }
}

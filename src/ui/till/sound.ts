/** Sounds of outcomes, so that a cashier need not look. Every outcome has its own tune. */
import { signal } from '@preact/signals'
import { device } from '../browser/storage.ts'
import type { Outcome } from './redeem.ts'

type Tune = Outcome | 'read' | 'offline'

/** Pitch in hertz and length in seconds; pitch 0 is a rest. */
type Note = readonly [hertz: number, seconds: number]

/** Success rises; others fall or stay low, and differ in their number of notes. */
const tunes: Record<Tune, readonly Note[]> = {
  read: [[1320, 0.05]],
  success: [
    [660, 0.11],
    [880, 0.11],
    [1320, 0.24],
  ],
  settled: [
    [587, 0.1],
    [0, 0.06],
    [587, 0.1],
  ],
  already: [
    [330, 0.16],
    [0, 0.06],
    [330, 0.3],
  ],
  foreign: [
    [330, 0.1],
    [247, 0.1],
    [330, 0.1],
    [247, 0.3],
  ],
  expired: [
    [523, 0.16],
    [392, 0.16],
    [294, 0.34],
  ],
  voided: [
    [196, 0.14],
    [0, 0.05],
    [196, 0.14],
    [0, 0.05],
    [196, 0.3],
  ],
  moved: [
    [440, 0.14],
    [311, 0.34],
  ],
  later: [
    [392, 0.12],
    [0, 0.06],
    [392, 0.12],
    [294, 0.3],
  ],
  small: [
    [294, 0.12],
    [0, 0.05],
    [294, 0.3],
  ],
  barred: [
    [220, 0.2],
    [0, 0.06],
    [175, 0.34],
  ],
  unknown: [[165, 0.55]],
  offline: [
    [392, 0.1],
    [0, 0.08],
    [392, 0.1],
  ],
}

const buzzes: Partial<Record<Tune, number[]>> = {
  success: [60],
  already: [120, 60, 120],
  foreign: [80, 40, 80, 40, 200],
  expired: [200],
  voided: [90, 50, 90, 50, 90],
  moved: [160, 60, 60],
  unknown: [300],
}

/** Whether sounds are on, as chosen on this device. */
export const soundOn = signal(device.read('sound') !== 'off')

export function switchSound(on: boolean): void {
  soundOn.value = on
  device.write('sound', on ? 'on' : 'off')
}

let context: AudioContext | null = null

/** Prepare sounds at the first touch: browsers allow none before. */
export function readySound(): void {
  const open = () => {
    context ??= typeof AudioContext === 'undefined' ? null : new AudioContext()
    void context?.resume().catch(() => undefined)
  }
  for (const touch of ['pointerdown', 'keydown']) {
    window.addEventListener(touch, open, { once: true, capture: true })
  }
}

export function play(tune: Tune): void {
  if (!soundOn.peek()) return
  const buzz = buzzes[tune]
  if (buzz && 'vibrate' in navigator) navigator.vibrate(buzz)
  if (!context) return
  let at = context.currentTime + 0.02
  for (const [hertz, seconds] of tunes[tune]) {
    if (hertz > 0) note(context, hertz, at, seconds)
    at += seconds
  }
}

function note(audio: AudioContext, hertz: number, at: number, seconds: number): void {
  const tone = audio.createOscillator()
  const volume = audio.createGain()
  // A small speaker plays low tones only by their overtones, which a square wave has.
  tone.type = hertz < 350 ? 'square' : 'triangle'
  tone.frequency.value = hertz
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(hertz < 350 ? 0.12 : 0.3, at + 0.01)
  volume.gain.setValueAtTime(hertz < 350 ? 0.12 : 0.3, at + seconds - 0.02)
  volume.gain.linearRampToValueAtTime(0, at + seconds)
  tone.connect(volume).connect(audio.destination)
  tone.start(at)
  tone.stop(at + seconds + 0.02)
}

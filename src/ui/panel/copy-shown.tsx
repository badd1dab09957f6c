import { QrCode } from '../parts/qr-code.tsx'
import { panelWords as t } from '../words/panel.ts'

/** A copy as a text and as a QR, behind a line that opens. */
export function CopyShown({ text }: { text: string }) {
  return (
    <details>
      <summary>{t('backup.show')}</summary>
      <div class="stack tight">
        <p class="mono small">{text}</p>
        <div class="qr-box">
          <QrCode text={text} label={t('backup.qr')} dense />
        </div>
      </div>
    </details>
  )
}

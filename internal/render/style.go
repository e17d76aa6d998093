package render

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"gdsproof/internal/report"
)

// palette paints words; a colour never carries a meaning alone.
type palette struct{ on bool }

func (p palette) paint(c color.Color, bold bool, s string) string {
	if !p.on {
		return s
	}
	st := lipgloss.NewStyle().Bold(bold)
	if c != nil {
		st = st.Foreground(c)
	}
	return st.Render(s)
}

func (p palette) status(s report.Status, text string) string {
	switch s {
	case report.Pass:
		return p.paint(lipgloss.Green, false, text)
	case report.Warn:
		return p.paint(lipgloss.Yellow, true, text)
	case report.Fail:
		return p.paint(lipgloss.Red, true, text)
	case report.Unknown:
		return p.paint(lipgloss.Magenta, false, text)
	}
	return p.dim(text)
}

func (p palette) outcome(o report.Outcome, text string) string {
	switch o {
	case report.Ready, report.Proven:
		return p.paint(lipgloss.Green, true, text)
	case report.NotReady, report.Refuted, report.Mixed:
		return p.paint(lipgloss.Red, true, text)
	}
	return p.paint(lipgloss.Yellow, true, text)
}

func (p palette) dim(text string) string {
	if !p.on {
		return text
	}
	return lipgloss.NewStyle().Faint(true).Render(text)
}

func (p palette) bold(text string) string { return p.paint(nil, true, text) }

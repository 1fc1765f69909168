package lsp

// The parts of the Language Server Protocol 3.17 that we use.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in UTF-16 units
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

// place is a document and a position in it, and what some requests add.
type place struct {
	Document textDocument `json:"textDocument"`
	Position position     `json:"position"`
	Context  struct {
		IncludeDeclaration bool    `json:"includeDeclaration"`
		Diagnostics        []shown `json:"diagnostics"` // of a codeAction; of other programs, too
	} `json:"context"`
	NewName string `json:"newName"`
}

// shown is the part of a diagnostic on the client's screen that matters here.
type shown struct {
	Range   textRange `json:"range"`
	Message string    `json:"message"`
}

type codeAction struct {
	Title     string        `json:"title"`
	Kind      string        `json:"kind"`
	Preferred bool          `json:"isPreferred"`
	Edit      workspaceEdit `json:"edit"`
}

type change struct {
	Document textDocument `json:"textDocument"`
	Changes  []struct {
		Range *textRange `json:"range"`
		Text  string     `json:"text"`
	} `json:"contentChanges"`
	Text *string `json:"text"` // didSave
}

type initializeParams struct {
	RootURI  string `json:"rootUri"`
	RootPath string `json:"rootPath"`
	Folders  []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		Workspace struct {
			Watched struct {
				Dynamic bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

type lspDiagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string          `json:"uri"`
	Version     *int            `json:"version,omitempty"`
	Diagnostics []lspDiagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup     `json:"contents"`
	Range    *textRange `json:"range,omitempty"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type completionItem struct {
	Label    string    `json:"label"`
	Kind     int       `json:"kind"`
	Detail   string    `json:"detail,omitempty"`
	Doc      string    `json:"documentation,omitempty"`
	Sort     string    `json:"sortText,omitempty"`
	TextEdit *textEdit `json:"textEdit,omitempty"`
}

type completionList struct {
	Incomplete bool             `json:"isIncomplete"`
	Items      []completionItem `json:"items"`
}

type documentSymbol struct {
	Name     string           `json:"name"`
	Detail   string           `json:"detail,omitempty"`
	Kind     int              `json:"kind"`
	Range    textRange        `json:"range"`
	Name_    textRange        `json:"selectionRange"`
	Children []documentSymbol `json:"children,omitempty"`
}

// Kinds of document symbols.
const (
	symbolModule   = 2
	symbolClass    = 5
	symbolProperty = 7
	symbolField    = 8
	symbolEnum     = 10
	symbolFunction = 12
	symbolVariable = 13
	symbolConstant = 14
	symbolBoolean  = 17
	symbolObject   = 19
	symbolMember   = 22
	symbolStruct   = 23
	symbolEvent    = 24
)

// capabilities lists the abilities of the server.
func capabilities() map[string]any {
	return map[string]any{
		"capabilities": map[string]any{
			"positionEncoding": "utf-16",
			"textDocumentSync": map[string]any{"openClose": true, "change": 2,
				"save": map[string]any{"includeText": false}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"documentSymbolProvider":     true,
			"documentFormattingProvider": true,
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{quickFix}},
			"renameProvider":             map[string]any{"prepareProvider": true},
			"completionProvider": map[string]any{"triggerCharacters": []string{" ", ".",
				"{", "[", ","}},
		},
		"serverInfo": map[string]any{"name": "fsmgen"},
	}
}

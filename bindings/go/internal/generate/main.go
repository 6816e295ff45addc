// Command generate divides what wasm2go made into packages: generate IN OUT. The Go compiler holds a package in memory
// at once, and all of the module would take it 1.2 GB.
//
// A function of the module becomes one of the package that it is in. A package imports those of the functions it calls:
// so functions that call each other, in a circle, stay together. The package above all has the methods again.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	packages = 5
	path     = "github.com/sealwax/sealwax-go/internal/module"
)

// source is what wasm2go made.
type source struct {
	text  string
	files *token.FileSet
	// The functions of the module by their names, in order.
	functions map[string]*function
	names     []string
	// The rest: what creates a module, small helpers, and what they need.
	create  *ast.FuncDecl
	helpers []ast.Decl
	types   []ast.Decl
	data    []ast.Decl
	fields  map[string]bool
}

type function struct {
	decl  *ast.FuncDecl
	calls []string
	// The number of its package.
	home int
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: generate IN OUT")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	s := read(string(text))
	s.settle()
	for name, content := range s.write() {
		at := filepath.Join(os.Args[2], name)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

var ofModule = regexp.MustCompile(`^(fn[0-9]+|X.*)$`)

func read(text string) *source {
	s := &source{text: text, files: token.NewFileSet(), functions: map[string]*function{}, fields: map[string]bool{}}
	file, err := parser.ParseFile(s.files, "module.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		log.Fatal(err)
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			s.readFunction(d)
		case *ast.GenDecl:
			switch {
			case d.Tok == token.CONST && d.Lparen.IsValid():
				s.data = append(s.data, d)
			case d.Tok == token.CONST:
				s.helpers = append(s.helpers, d)
			case d.Tok == token.TYPE:
				s.readType(d)
			}
		}
	}
	for _, name := range s.names {
		f := s.functions[name]
		ast.Inspect(f.decl.Body, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				if callee, ok := s.callee(call); ok {
					f.calls = append(f.calls, callee)
				}
			}
			return true
		})
	}
	return s
}

func (s *source) readFunction(d *ast.FuncDecl) {
	name := d.Name.Name
	switch {
	case d.Recv == nil && name == "New":
		s.create = d
	case d.Recv == nil && !ofModule.MatchString(name):
		s.helpers = append(s.helpers, d)
	case name == "Xmemory" || d.Recv != nil && !strings.Contains(s.between(d.Recv.Pos(), d.Recv.End()), "*Module"):
		// The memory is a field.
	default:
		s.functions[name] = &function{decl: d}
		s.names = append(s.names, name)
	}
}

func (s *source) readType(d *ast.GenDecl) {
	spec := d.Specs[0].(*ast.TypeSpec)
	switch spec.Name.Name {
	case "Memory", "wasmMemory":
	case "Module":
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			for _, name := range field.Names {
				s.fields[name.Name] = true
			}
		}
		s.fields["memory"] = true
		fallthrough
	default:
		s.types = append(s.types, d)
	}
}

// callee returns the function of the module that is called.
func (s *source) callee(call *ast.CallExpr) (string, bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if m, ok := f.X.(*ast.Ident); ok && m.Name == "m" {
			name = f.Sel.Name
		}
	case *ast.Ident:
		name = f.Name
	}
	return name, s.functions[name] != nil
}

// settle gives each function a package: those that it calls are in the same one, or in one before it.
func (s *source) settle() {
	groups := s.circles()
	total := 0
	for _, name := range s.names {
		total += s.size(name)
	}
	sum := 0
	for _, group := range groups {
		home := min(sum*packages/total, packages-1)
		for _, name := range group {
			s.functions[name].home = home
			sum += s.size(name)
		}
	}
}

func (s *source) size(name string) int {
	d := s.functions[name].decl
	return int(d.End() - d.Pos())
}

// circles returns the functions that call each other together, callees first (Tarjan's strongly connected components).
func (s *source) circles() (groups [][]string) {
	number, lowest := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(name string)
	visit = func(name string) {
		number[name] = len(number) + 1
		lowest[name] = number[name]
		stack = append(stack, name)
		for _, callee := range s.functions[name].calls {
			if number[callee] == 0 {
				visit(callee)
				lowest[name] = min(lowest[name], lowest[callee])
			} else if slices.Contains(stack, callee) {
				lowest[name] = min(lowest[name], number[callee])
			}
		}
		if lowest[name] == number[name] {
			at := slices.Index(stack, name)
			groups = append(groups, slices.Clone(stack[at:]))
			stack = stack[:at]
		}
	}
	for _, name := range s.names {
		if number[name] == 0 {
			visit(name)
		}
	}
	return groups
}

func (s *source) between(from, to token.Pos) string {
	return s.text[s.files.Position(from).Offset:s.files.Position(to).Offset]
}

// edit replaces a part of the source.
type edit struct {
	from, to token.Pos
	text     string
}

func (s *source) edited(from, to token.Pos, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return int(a.from - b.from) })
	var out strings.Builder
	for _, e := range edits {
		out.WriteString(s.between(from, e.from))
		out.WriteString(e.text)
		from = e.to
	}
	out.WriteString(s.between(from, to))
	return out.String()
}

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func packageOf(home int) string { return fmt.Sprintf("part%d", home) }

// qualified returns how a package calls a function.
func (s *source) qualified(name string, from int) string {
	if home := s.functions[name].home; home != from {
		return packageOf(home) + "." + exported(name)
	}
	return exported(name)
}

// rewrite returns the edits for what a package has of the module's fields and functions.
func (s *source) rewrite(node ast.Node, home int) (edits []edit) {
	ast.Inspect(node, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			if name, ok := s.callee(n); ok {
				text := s.qualified(name, home) + "("
				if s.functions[name].decl.Recv != nil {
					if text += "m"; len(n.Args) > 0 {
						text += ", "
					}
				}
				edits = append(edits, edit{n.Pos(), n.Lparen + 1, text})
				for _, argument := range n.Args {
					edits = append(edits, s.rewrite(argument, home)...)
				}
				return false
			}
		case *ast.SelectorExpr:
			if m, ok := n.X.(*ast.Ident); ok && m.Name == "m" {
				if !s.fields[n.Sel.Name] {
					log.Fatalf("expected a field, found m.%s", n.Sel.Name)
				}
				edits = append(edits, edit{n.Sel.Pos(), n.Sel.End(), field(n.Sel.Name)})
			}
		}
		return true
	})
	return edits
}

func field(name string) string { return "F" + strings.TrimPrefix(name, "_") }

// function returns a function of the module for its package.
func (s *source) function(name string) string {
	f := s.functions[name]
	d := f.decl
	edits := s.rewrite(d.Body, f.home)
	head := "func " + exported(name) + "("
	if d.Recv != nil {
		if head += "m *core.Module"; len(d.Type.Params.List) > 0 {
			head += ", "
		}
	}
	edits = append(edits, edit{d.Pos(), d.Type.Params.Opening + 1, head})
	return s.edited(d.Pos(), d.End(), edits)
}

// literal returns a function of the module as a value, or what the method of the package above does.
func (s *source) forward(head, name, module string) string {
	d := s.functions[name].decl
	var arguments []string
	if d.Recv != nil {
		arguments = append(arguments, module)
	}
	for _, parameter := range d.Type.Params.List {
		for _, each := range parameter.Names {
			arguments = append(arguments, each.Name)
		}
	}
	result := ""
	if d.Type.Results != nil {
		result = "return "
	}
	signature := s.between(d.Type.Params.Pos(), d.Type.End())
	return fmt.Sprintf("%s%s { %s%s(%s) }", head, signature, result, s.qualified(name, -1), strings.Join(arguments, ", "))
}

// write returns the files.
func (s *source) write() map[string]string {
	var helpers strings.Builder
	for _, d := range s.helpers {
		helpers.WriteString("\n" + s.between(start(d), d.End()) + "\n")
	}
	common := wipes(helpers.String())
	written := map[string]string{"core/core.go": s.file("core", "", s.core())}
	bodies := make([]strings.Builder, packages)
	for _, name := range s.names {
		fmt.Fprintf(&bodies[s.functions[name].home], "\n%s\n", s.function(name))
	}
	for home := range packages {
		name := packageOf(home)
		written[name+"/"+name+".go"] = s.file(name, common, bodies[home].String())
	}
	written["module.go"] = s.file("module", common, s.above())
	return written
}

// start returns where a declaration starts, with what is said of it to the compiler.
func start(d ast.Decl) token.Pos {
	if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil {
		return f.Doc.Pos()
	}
	return d.Pos()
}

// wipes returns the helpers such that memory that moves leaves no copy behind: there may be keys in it.
func wipes(helpers string) string {
	const grows = "*mem = append(buf, make([]byte, int(new<<16)-len)...)"
	if strings.Count(helpers, grows) != 1 {
		log.Fatal("expected memory_grow as wasm2go v0.4.19 writes it")
	}
	return strings.Replace(helpers, grows, grows+"\n\tif &buf[0] != &(*mem)[0] {\n\t\tclear(buf)\n\t}", 1)
}

// core returns the types that all packages have.
func (s *source) core() string {
	var out strings.Builder
	for _, d := range s.types {
		spec := d.(*ast.GenDecl).Specs[0].(*ast.TypeSpec)
		module, ok := spec.Type.(*ast.StructType)
		if !ok {
			out.WriteString("\n" + s.between(d.Pos(), d.End()) + "\n")
			continue
		}
		out.WriteString("\n// Module is an instance.\ntype Module struct {\n\tFmemory []byte\n")
		for _, each := range module.Fields.List {
			for _, name := range each.Names {
				fmt.Fprintf(&out, "\t%s %s\n", field(name.Name), s.between(each.Type.Pos(), each.Type.End()))
			}
		}
		out.WriteString("}\n")
	}
	return out.String()
}

// above returns the package that has what a host calls.
func (s *source) above() string {
	var out strings.Builder
	out.WriteString("\n// Module is an instance.\ntype Module struct{ core.Module }\n")
	out.WriteString("\n// Memory returns its memory, which moves when it grows.\nfunc (m *Module) Memory() *[]byte { return &m.Fmemory }\n\n")
	var edits []edit
	ast.Inspect(s.create, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr:
			if m, ok := n.X.(*ast.Ident); ok && m.Name == "m" {
				text := field(n.Sel.Name)
				if s.functions[n.Sel.Name] != nil {
					text = s.forward("func", n.Sel.Name, "&m.Module")
					edits = append(edits, edit{n.Pos(), n.End(), text})
				} else {
					edits = append(edits, edit{n.Sel.Pos(), n.Sel.End(), text})
				}
				return false
			}
		case *ast.Ident:
			if s.functions[n.Name] != nil {
				edits = append(edits, edit{n.Pos(), n.End(), s.qualified(n.Name, -1)})
			}
		case *ast.Field:
			edits = append(edits, edit{n.Type.Pos(), n.Type.Pos(), coreOf(s.between(n.Type.Pos(), n.Type.End()))})
			return false
		}
		return true
	})
	out.WriteString(s.edited(s.create.Pos(), s.create.End(), edits) + "\n")
	for _, name := range s.names {
		if d := s.functions[name].decl; strings.HasPrefix(name, "X") && d.Recv != nil {
			out.WriteString("\n" + s.forward("func (m *Module) "+name, name, "&m.Module") + "\n")
		}
	}
	for _, d := range s.data {
		out.WriteString("\n" + s.between(d.Pos(), d.End()) + "\n")
	}
	return out.String()
}

// coreOf returns what stands before the name of a type of the package core.
func coreOf(name string) string {
	if strings.HasPrefix(name, "X") {
		return "core."
	}
	return ""
}

var imported = regexp.MustCompile(`\b(binary|math|bits|core|part[0-9]+)\.[A-Z]`)

// file returns a file with the imports that it needs.
func (s *source) file(name string, parts ...string) string {
	body := strings.Join(parts, "")
	// Not in the data.
	code, _, _ := strings.Cut(body, "\nconst (\n\tdata")
	var imports []string
	for _, found := range imported.FindAllStringSubmatch(code, -1) {
		switch found[1] {
		case "binary":
			imports = append(imports, "encoding/binary")
		case "math":
			imports = append(imports, "math")
		case "bits":
			imports = append(imports, "math/bits")
		default:
			imports = append(imports, path+"/"+found[1])
		}
	}
	slices.Sort(imports)
	var out strings.Builder
	fmt.Fprintf(&out, "// Code generated by wasm2go and internal/generate. DO NOT EDIT.\n\n// Package %s is a part of the module.\npackage %s\n\nimport (\n", name, name)
	for _, each := range slices.Compact(imports) {
		fmt.Fprintf(&out, "\t%q\n", each)
	}
	return out.String() + ")\n" + body
}

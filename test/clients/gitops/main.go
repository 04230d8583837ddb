// Tells what tools that wait for objects make of them: kstatus, which Flux and Helm use, and the health check of Argo CD in its
// own Lua. Reads one JSON object per line, and writes one answer per line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type verdict struct {
	Kstatus string `json:"kstatus"`
	Argo    string `json:"argo"`
	Message string `json:"message"`
}

func main() {
	script, err := os.ReadFile(os.Args[1])
	check(err)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		check(object.UnmarshalJSON(lines.Bytes()))
		result, err := status.Compute(object)
		check(err)
		health, message := argo(string(script), object.Object)
		answer, err := json.Marshal(verdict{result.Status.String(), health, message})
		check(err)
		fmt.Println(string(answer))
	}
	check(lines.Err())
}

func argo(script string, object map[string]any) (string, string) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	// Argo CD gives a script no more than these.
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
	} {
		check(state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)))
	}
	state.SetGlobal("obj", value(state, object))
	check(state.DoString(script))
	health, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		check(fmt.Errorf("the script returned no table"))
	}
	return health.RawGetString("status").String(), health.RawGetString("message").String()
}

func value(state *lua.LState, from any) lua.LValue {
	switch from := from.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, each := range from {
			table.RawSetString(key, value(state, each))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, each := range from {
			table.Append(value(state, each))
		}
		return table
	case string:
		return lua.LString(from)
	case int64:
		return lua.LNumber(from)
	case bool:
		return lua.LBool(from)
	default:
		return lua.LNil
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Platform is a client of the core API with connections that are kept.
type Platform struct {
	base  string
	token string
	http  *http.Client
}

func newPlatform(base, token string, connections int) *Platform {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = connections
	return &Platform{base: base + "/cloudapi/v6", token: token, http: &http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

// Refused is an answer other than 2xx.
type Refused struct {
	Code       int
	Message    string
	RetryAfter time.Duration
}

func (r *Refused) Error() string { return fmt.Sprintf("platform answered %d: %s", r.Code, r.Message) }

func isGone(err error) bool {
	var refused *Refused
	return errors.As(err, &refused) && refused.Code == http.StatusNotFound
}

// call sends one request, reads the answer into out where that is wanted, and returns the address of the request's status.
func (p *Platform) call(ctx context.Context, method, url string, body, out any) (string, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := p.http.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2048))
		return "", &Refused{Code: answer.StatusCode, Message: string(text), RetryAfter: retryAfter(answer)}
	}
	if out != nil {
		if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
			return "", err
		}
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.Header.Get("Location"), err
}

func retryAfter(answer *http.Response) time.Duration {
	seconds, err := strconv.ParseFloat(answer.Header.Get("Retry-After"), 64)
	if err != nil {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// resource is what is read of any resource.
type resource struct {
	ID       string `json:"id"`
	Metadata struct {
		State string `json:"state"`
	} `json:"metadata"`
}

type requestStatus struct {
	Metadata struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"metadata"`
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer = "mooring.dev/finalizer"
	// pollInterval is that of the platform's own Go client.
	pollInterval = time.Second
	// busyRetry is how long to wait when the platform or another object is not ready for this one.
	busyRetry = time.Second
)

// kind is what the two kinds do differently.
type kind[T Object] struct {
	name string
	new  func() T
	// parent gives the path below which it lives; false: it is not there yet.
	parent func(context.Context, client.Client, T) (string, bool, error)
	body   func(T) any
	query  string
	// read takes over what an answer shows and tells whether the resource is as spec wants it.
	read func(context.Context, *Platform, string, T) (bool, error)
	// patch is what brings it there.
	patch func(T) any
}

// Reconciler keeps resources of one kind: one step per call, what lasts is looked at again later.
type Reconciler[T Object] struct {
	client.Client
	platform *Platform
	resync   time.Duration
	kind     kind[T]
	// created has what this process has made, by the uid of its object: the cache may be behind, and a write may fail.
	created sync.Map
}

type creation struct {
	id, parent, location string
	written              bool
}

func (r *Reconciler[T]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object := r.kind.new()
	if err := r.Get(ctx, req.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.step(ctx, object)
	var refused *Refused
	if errors.As(err, &refused) && refused.Code == http.StatusTooManyRequests {
		return ctrl.Result{RequeueAfter: max(refused.RetryAfter, pollInterval)}, nil
	}
	return result, err
}

func (r *Reconciler[T]) step(ctx context.Context, object T) (ctrl.Result, error) {
	if !object.GetDeletionTimestamp().IsZero() {
		return r.delete(ctx, object)
	}
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		before := object.DeepCopyObject().(T)
		controllerutil.AddFinalizer(object, finalizer)
		if err := r.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return ctrl.Result{}, err
		}
	}
	status := object.status()
	if status.Request == nil && status.ID == "" {
		return r.create(ctx, object)
	}
	if status.Request != nil {
		if done, result, err := r.poll(ctx, object); !done {
			return result, err
		}
	}
	return r.observe(ctx, object)
}

func (r *Reconciler[T]) create(ctx context.Context, object T) (ctrl.Result, error) {
	known, isKnown := r.created.Load(object.GetUID())
	if !isKnown {
		parent, ready, err := r.kind.parent(ctx, r.Client, object)
		if err != nil || !ready {
			return ctrl.Result{RequeueAfter: busyRetry}, err
		}
		var made resource
		location, err := r.platform.call(ctx, http.MethodPost, r.platform.base+parent, r.kind.body(object), &made)
		if err != nil {
			return r.refuse(ctx, object, err)
		}
		known = creation{id: made.ID, parent: parent, location: location}
		r.created.Store(object.GetUID(), known)
	}
	made := known.(creation)
	if made.written {
		return ctrl.Result{RequeueAfter: busyRetry}, nil
	}
	before := object.DeepCopyObject().(T)
	object.status().ID = made.id
	object.status().Parents = map[string]string{"path": made.parent}
	result, err := r.begin(ctx, object, before, "create", made.location)
	made.written = err == nil
	r.created.Store(object.GetUID(), made)
	return result, err
}

// begin notes a request that is to be polled.
func (r *Reconciler[T]) begin(ctx context.Context, object, before T, action, location string) (ctrl.Result, error) {
	object.status().Request = &Request{URL: location, Action: action, Status: "BUSY", Since: metav1.Now()}
	setReady(object, metav1.ConditionFalse, "Reconciling", action+" is in progress")
	if err := r.Status().Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: pollInterval}, nil
}

// poll tells whether the request at hand is done. The object then no longer has it; writing that is left to what follows.
func (r *Reconciler[T]) poll(ctx context.Context, object T) (bool, ctrl.Result, error) {
	var answer requestStatus
	request := object.status().Request
	if _, err := r.platform.call(ctx, http.MethodGet, request.URL, nil, &answer); err != nil {
		return false, ctrl.Result{}, err
	}
	switch answer.Metadata.Status {
	case "DONE":
		return true, ctrl.Result{}, nil
	case "FAILED":
		before := object.DeepCopyObject().(T)
		object.status().Request = nil
		if request.Action == "create" {
			object.status().ID = ""
			r.created.Delete(object.GetUID())
		}
		setReady(object, metav1.ConditionFalse, "Failed", answer.Metadata.Message)
		if err := r.Status().Patch(ctx, object, client.MergeFrom(before)); err != nil {
			return false, ctrl.Result{}, err
		}
		return false, ctrl.Result{}, fmt.Errorf("%s failed: %s", request.Action, answer.Metadata.Message)
	}
	return false, ctrl.Result{RequeueAfter: pollInterval}, nil
}

// observe reads the resource, mends it where it differs, and says what it is like.
func (r *Reconciler[T]) observe(ctx context.Context, object T) (ctrl.Result, error) {
	before := object.DeepCopyObject().(T)
	status := object.status()
	matches, err := r.kind.read(ctx, r.platform, r.path(object), object)
	if err != nil {
		return r.refuse(ctx, object, err)
	}
	if !matches {
		location, err := r.platform.call(ctx, http.MethodPatch, r.path(object), r.kind.patch(object), nil)
		if err != nil {
			return r.refuse(ctx, object, err)
		}
		return r.begin(ctx, object, before, "update", location)
	}
	status.Request = nil
	status.ObservedGeneration = object.GetGeneration()
	setReady(object, metav1.ConditionTrue, "Available", r.kind.name+" is up to date")
	if err := r.write(ctx, object, before); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: jittered(r.resync)}, nil
}

// write sends a status that has changed.
func (r *Reconciler[T]) write(ctx context.Context, object, before T) error {
	patch := client.MergeFrom(before)
	change, err := patch.Data(object)
	if err != nil || string(change) == "{}" {
		return err
	}
	return r.Status().Patch(ctx, object, patch)
}

// delete sends the deletion, polls its request and lets the object go. What lives in a datacenter goes with it.
func (r *Reconciler[T]) delete(ctx context.Context, object T) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		return ctrl.Result{}, nil
	}
	status := object.status()
	if status.Request != nil {
		done, result, err := r.poll(ctx, object)
		if err != nil || !done {
			return result, err
		}
		if status.Request.Action == "delete" {
			return r.release(ctx, object)
		}
	}
	if status.ID == "" {
		return r.release(ctx, object)
	}
	location, err := r.platform.call(ctx, http.MethodDelete, r.path(object)+r.kind.query, nil, nil)
	if isGone(err) {
		return r.release(ctx, object)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return r.begin(ctx, object, object.DeepCopyObject().(T), "delete", location)
}

func (r *Reconciler[T]) release(ctx context.Context, object T) (ctrl.Result, error) {
	before := object.DeepCopyObject().(T)
	r.created.Delete(object.GetUID())
	controllerutil.RemoveFinalizer(object, finalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, object, client.MergeFrom(before)))
}

// refuse tells why the platform did not do something. What a person has to correct is not tried again before it changes.
func (r *Reconciler[T]) refuse(ctx context.Context, object T, cause error) (ctrl.Result, error) {
	var refused *Refused
	if !errors.As(cause, &refused) || refused.Code != http.StatusUnprocessableEntity {
		return ctrl.Result{}, cause
	}
	before := object.DeepCopyObject().(T)
	setReady(object, metav1.ConditionFalse, "Refused", refused.Message)
	return ctrl.Result{RequeueAfter: time.Minute}, r.write(ctx, object, before)
}

func (r *Reconciler[T]) path(object T) string {
	return r.platform.base + object.status().Parents["path"] + "/" + object.status().ID
}

func setReady(object Object, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&object.status().Conditions, metav1.Condition{
		Type: "Ready", Status: status, Reason: reason, Message: message, ObservedGeneration: object.GetGeneration(),
	})
}

// jittered spreads the reads of objects that were made together.
func jittered(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (0.9 + 0.2*rand.Float64()))
}

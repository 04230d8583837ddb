// A plain operator for Datacenters and Servers, written the customary way with controller-runtime: what Mooring is measured
// against. It keeps the id that the platform answers in status and nothing before that, as most operators do: who is killed between
// the two makes a second one.
package main

import (
	"context"
	"flag"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const byDatacenter = "spec.datacenterRef.name"

func isReady(object Object) bool {
	return object.status().ID != "" && meta.IsStatusConditionTrue(object.status().Conditions, "Ready")
}

func main() {
	endpoint := flag.String("endpoint", "", "URL of the platform; its token is in PLATFORM_TOKEN")
	workers := flag.Int("workers", 16, "concurrent reconciles per kind")
	resync := flag.Duration("resync", 5*time.Minute, "time between two reads of a resource that does not change")
	metrics := flag.String("metrics", "127.0.0.1:0", "address of metrics")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*endpoint, *workers, *resync, *metrics); err != nil {
		ctrl.Log.Error(err, "ended")
		os.Exit(1)
	}
}

func run(endpoint string, workers int, resync time.Duration, metrics string) error {
	scheme := runtime.NewScheme()
	addToScheme(scheme)
	metav1.AddMetaToScheme(scheme)
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = "peer"
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: metrics},
		Cache:                         cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		LeaderElection:                true,
		LeaderElectionID:              "peer",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	platform := newPlatform(endpoint, os.Getenv("PLATFORM_TOKEN"), 2*workers)
	// Status of its own is not worth another look.
	specs := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	options := controller.Options{MaxConcurrentReconciles: workers}
	err = ctrl.NewControllerManagedBy(manager).For(&Datacenter{}, specs).WithOptions(options).
		Complete(&Reconciler[*Datacenter]{Client: manager.GetClient(), platform: platform, resync: resync, kind: datacenters})
	if err != nil {
		return err
	}
	err = manager.GetFieldIndexer().IndexField(context.Background(), &Server{}, byDatacenter, func(object client.Object) []string {
		return []string{object.(*Server).Spec.DatacenterRef.Name}
	})
	if err != nil {
		return err
	}
	waiting := handler.EnqueueRequestsFromMapFunc(serversOf(manager.GetClient()))
	err = ctrl.NewControllerManagedBy(manager).For(&Server{}, specs).WithOptions(options).
		Watches(&Datacenter{}, waiting, builder.WithPredicates(becameReady)).
		Complete(&Reconciler[*Server]{Client: manager.GetClient(), platform: platform, resync: resync, kind: servers})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

// becameReady lets pass what servers of a datacenter may wait for.
var becameReady = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return !isReady(e.ObjectOld.(*Datacenter)) && isReady(e.ObjectNew.(*Datacenter))
	},
	DeleteFunc:  func(event.DeleteEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

func serversOf(reader client.Client) handler.MapFunc {
	return func(ctx context.Context, datacenter client.Object) []reconcile.Request {
		var list ServerList
		in := client.InNamespace(datacenter.GetNamespace())
		if err := reader.List(ctx, &list, in, client.MatchingFields{byDatacenter: datacenter.GetName()}); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for i := range list.Items {
			if list.Items[i].Status.ID == "" {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			}
		}
		return requests
	}
}
